import com.sun.jdi.ArrayReference;
import com.sun.jdi.Field;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;

/** Values in one line each: an object with its first items or fields, to a limited depth. */
final class Preview {
    /** Items or fields that are shown of the outermost object. */
    private static final int FEW = 6;

    /** Items or fields that are shown of an object inside another. */
    private static final int FEWER = 3;

    /** Characters that are shown of an item or field. */
    private static final int BRIEF = 40;

    /** Levels of nested objects that are shown. */
    private static final int DEPTH = 3;

    /** Methods of the Java library that one preview calls in the debuggee, at most. */
    private static final int CALLS = 24;

    private final Evaluation evaluation;
    private int calls;

    Preview(Evaluation evaluation) {
        this.evaluation = evaluation;
    }

    /** Return a value in one line. */
    String text(Value value, ThreadReference thread) {
        calls = 0;
        return text(value, thread, DEPTH);
    }

    /** Return a value in one line, with `depth` levels of its contents; 0: only its class. */
    private String text(Value value, ThreadReference thread, int depth) {
        if (value == null) {
            return "null";
        }
        if (value instanceof StringReference) {
            return Json.write(((StringReference) value).value());
        }
        if (value instanceof PrimitiveValue) {
            return value.toString();
        }
        ObjectReference object = (ObjectReference) value;
        String type = object.referenceType().name();
        String brief = type.substring(type.lastIndexOf('.') + 1).replace('$', '.');
        if (Kinds.isWrapper(object)) {
            return text(object.getValue(object.referenceType().fieldByName("value")), thread);
        }
        if (Kinds.isEnum(object)) {
            Value constant = object.getValue(object.referenceType().fieldByName("name"));
            return constant == null ? brief : ((StringReference) constant).value();
        }
        if (object instanceof ArrayReference) {
            ArrayReference array = (ArrayReference) object;
            String sized = brief.replaceFirst("\\[]", "[" + array.length() + "]");
            return sized + (depth == 0 ? "" : items(array, thread, "{", "}", depth));
        }
        if (depth == 0 || depth < DEPTH && (Kinds.isLocked(object) || ++calls > CALLS)) {
            return brief;
        }
        if (Kinds.isCollection(object)) {
            return brief + " (size " + size(object, thread) + ")" + preview(object, thread, depth);
        }
        String place = depth == DEPTH ? "@" + object.uniqueID() : "";
        if (type.startsWith("java.") && !Kinds.is(object, "java.lang.Thread") && !type.contains("$")) {
            try {
                Value told = evaluation.call(object, "toString", "()Ljava/lang/String;", thread);
                return told == null ? brief : ((StringReference) told).value();
            } catch (Exception silent) {
                return brief + place;
            }
        }
        return brief + place + fields(object, thread, depth);
    }

    /** Return the first fields of an object. */
    private String fields(ObjectReference object, ThreadReference thread, int depth) {
        List<String> told = new ArrayList<>();
        int all = 0;
        for (Field field : object.referenceType().allFields()) {
            if (!field.isStatic() && !field.isSynthetic() && all++ < few(depth)) {
                told.add(field.name() + "=" + brief(object.getValue(field), thread, depth));
            }
        }
        return told.isEmpty() ? "" : " {" + some(told, all) + "}";
    }

    /** Return the first items of an array, and its last. */
    private String items(
            ArrayReference array, ThreadReference thread, String begin, String end, int depth) {
        int all = array.length();
        if (all == 0) {
            return "";
        }
        List<String> told = new ArrayList<>();
        for (Value each : array.getValues(0, Math.min(all, few(depth)))) {
            told.add(brief(each, thread, depth));
        }
        String last = all > told.size() ? ", " + brief(array.getValue(all - 1), thread, depth) : "";
        return " " + begin + some(told, all) + last + end;
    }

    private String preview(ObjectReference collection, ThreadReference thread, int depth) {
        try {
            if (!Kinds.is(collection, "java.util.Map")) {
                return items(array(collection, thread), thread, "[", "]", depth);
            }
            ArrayReference keys = part(collection, "keySet", "()Ljava/util/Set;", thread);
            ArrayReference values = part(collection, "values", "()Ljava/util/Collection;", thread);
            List<String> told = new ArrayList<>();
            int all = Math.min(keys.length(), values.length());
            for (int i = 0; i < Math.min(all, few(depth)); i++) {
                Value key = keys.getValue(i);
                String name =
                        key instanceof StringReference
                                ? ((StringReference) key).value()
                                : brief(key, thread, depth);
                told.add(name + "=" + brief(values.getValue(i), thread, depth));
            }
            return told.isEmpty() ? "" : " {" + some(told, all) + "}";
        } catch (Exception silent) {
            return "";
        }
    }

    private ArrayReference part(
            ObjectReference map, String name, String signature, ThreadReference thread)
            throws Exception {
        return array((ObjectReference) evaluation.call(map, name, signature, thread), thread);
    }

    private static int few(int depth) {
        return depth == DEPTH ? FEW : FEWER;
    }

    private static String some(List<String> told, int all) {
        return String.join(", ", told) + (all > told.size() ? ", …" : "");
    }

    /** Return a value inside another one. */
    private String brief(Value value, ThreadReference thread, int depth) {
        String text = text(value, thread, depth - 1);
        boolean nested = value instanceof ObjectReference && !Kinds.isPlain((ObjectReference) value);
        return nested || text.length() <= BRIEF ? text : text.substring(0, BRIEF) + "…";
    }

    ArrayReference array(ObjectReference collection, ThreadReference thread)
            throws Exception {
        return (ArrayReference)
                evaluation.call(collection, "toArray", "()[Ljava/lang/Object;", thread);
    }

    Integer size(ObjectReference collection, ThreadReference thread) {
        try {
            return ((PrimitiveValue) evaluation.call(collection, "size", "()I", thread)).intValue();
        } catch (Exception unknown) {
            return null;
        }
    }
}
