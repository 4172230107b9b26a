import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.ArrayReference;
import com.sun.jdi.ClassType;
import com.sun.jdi.Field;
import com.sun.jdi.InterfaceType;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.StackFrame;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Values as the client sees them, and the numbers by which it asks for what is in them. */
final class Values {
    private static final List<String> WRAPPERS =
            List.of("Integer", "Long", "Double", "Float", "Short", "Byte", "Boolean", "Character");

    /** How many items or fields of an object are told with it, and how many characters of each. */
    private static final int FEW = 6;

    private static final int BRIEF = 40;

    /** The same, inside another object. */
    private static final int FEWER = 3;

    /** How many levels of what is in an object are told with it. */
    private static final int DEPTH = 3;

    /** How many methods of the library are called at most to tell what is in one. */
    private static final int CALLS = 24;

    /** Something that holds variables: a frame, or an object whose thread can be asked for more. */
    private static final class Holder {
        final Frames.Frame frame;
        final ObjectReference object;
        final ThreadReference thread;

        Holder(Frames.Frame frame, ObjectReference object, ThreadReference thread) {
            this.frame = frame;
            this.object = object;
            this.thread = thread;
        }
    }

    private final Evaluation evaluation;
    private final Map<Integer, Holder> holders = new HashMap<>();
    private int numbers;
    private int calls;

    Values(Evaluation evaluation) {
        this.evaluation = evaluation;
    }

    /** Forget all: the program runs on. */
    void clear() {
        holders.clear();
        numbers = 0;
    }

    int ofFrame(Frames.Frame frame) {
        return hold(new Holder(frame, null, frame.thread));
    }

    /** Return what a holder holds. */
    List<Object> in(int reference, int start, int count) throws Exception {
        Holder holder = holders.get(reference);
        if (holder == null) {
            throw new IllegalArgumentException("The program has run on since that was told.");
        }
        List<Object> found = new ArrayList<>();
        if (holder.frame != null) {
            locals(holder, found);
        } else if (holder.object instanceof ArrayReference) {
            items((ArrayReference) holder.object, start, count, holder.thread, found);
        } else {
            contents(holder, start, count, found);
        }
        return found;
    }

    /** Give a variable in a holder another value, and return how it looks now. */
    Map<String, Object> set(int reference, String name, String expression) throws Exception {
        Holder holder = holders.get(reference);
        if (holder == null || holder.object != null && isCollection(holder.object)) {
            throw new IllegalArgumentException(name + " cannot be changed.");
        }
        String target = name;
        if (holder.object instanceof ArrayReference) {
            int index = Integer.parseInt(name.replaceAll("[\\[\\]]", ""));
            Value value = evaluation.of(expression, evaluation.frame(holder.thread));
            ((ArrayReference) holder.object).setValue(index, value);
        } else if (holder.object != null) {
            Value value = evaluation.of(expression, evaluation.frame(holder.thread));
            holder.object.setValue(holder.object.referenceType().fieldByName(name), value);
        } else {
            evaluation.of(name + " = " + expression, holder.frame);
        }
        for (Object each : in(reference, 0, 0)) {
            Map<String, Object> variable = Json.table(each);
            if (target.equals(variable.get("name"))) {
                return variable;
            }
        }
        return Json.of("value", expression);
    }

    /** Describe a value. */
    Map<String, Object> variable(String name, String type, Value value, ThreadReference thread) {
        int reference = 0;
        Integer indexed = null;
        Integer named = null;
        String text = text(value, thread);
        if (value instanceof ObjectReference && !isPlain((ObjectReference) value)) {
            ObjectReference object = (ObjectReference) value;
            if (object instanceof ArrayReference) {
                indexed = ((ArrayReference) object).length();
            } else if (isCollection(object)) {
                Integer size = size(object, thread);
                boolean map = is(object, "java.util.Map");
                indexed = map ? null : size;
                named = map ? size : null;
            }
            Integer size = indexed == null ? named : indexed;
            reference = size != null && size == 0 ? 0 : hold(new Holder(null, object, thread));
        }
        return Json.of(
                "name", name,
                "value", text,
                "type", value instanceof ObjectReference ? value.type().name() : type,
                "variablesReference", reference,
                "indexedVariables", indexed,
                "namedVariables", named);
    }

    /** Return a value in one line. */
    String text(Value value, ThreadReference thread) {
        calls = 0;
        return text(value, thread, DEPTH);
    }

    /** Return a value in one line, with so many levels of what is in it; of none its class. */
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
        if (isWrapper(object)) {
            return text(object.getValue(object.referenceType().fieldByName("value")), thread);
        }
        if (isEnum(object)) {
            Value constant = object.getValue(object.referenceType().fieldByName("name"));
            return constant == null ? brief : ((StringReference) constant).value();
        }
        if (object instanceof ArrayReference) {
            ArrayReference array = (ArrayReference) object;
            String sized = brief.replaceFirst("\\[]", "[" + array.length() + "]");
            return sized + (depth == 0 ? "" : items(array, thread, "{", "}", depth));
        }
        if (depth == 0 || depth < DEPTH && (isLocked(object) || ++calls > CALLS)) {
            return brief;
        }
        if (isCollection(object)) {
            return brief + " (size " + size(object, thread) + ")" + preview(object, thread, depth);
        }
        String place = depth == DEPTH ? "@" + object.uniqueID() : "";
        if (type.startsWith("java.") && !is(object, "java.lang.Thread") && !type.contains("$")) {
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
            if (!is(collection, "java.util.Map")) {
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

    /** Return a value inside another. */
    private String brief(Value value, ThreadReference thread, int depth) {
        String text = text(value, thread, depth - 1);
        boolean nested = value instanceof ObjectReference && !isPlain((ObjectReference) value);
        return nested || text.length() <= BRIEF ? text : text.substring(0, BRIEF) + "…";
    }

    /** Whether its methods wait for a lock, which a stopped thread may hold. */
    private static boolean isLocked(ObjectReference object) {
        return is(object, "java.util.Vector")
                || is(object, "java.util.Hashtable")
                || object.referenceType().name().matches("java\\.util\\.(Collections\\$Synchronized|concurrent\\.).*");
    }

    private void locals(Holder holder, List<Object> found) throws Exception {
        StackFrame frame = holder.frame.get();
        ObjectReference own = frame.thisObject();
        List<LocalVariable> locals;
        List<Value> values = new ArrayList<>();
        try {
            locals = frame.visibleVariables();
            for (LocalVariable local : locals) {
                values.add(frame.getValue(local));
            }
        } catch (AbsentInformationException none) {
            // Compiled without -g: arguments are there, without their names.
            locals = List.of();
            List<Value> arguments = frame.getArgumentValues();
            for (int i = 0; i < arguments.size(); i++) {
                found.add(variable("arg" + i, "?", arguments.get(i), holder.thread));
            }
            found.add(
                    Json.of(
                            "name", "(other locals)",
                            "value", "compiled without -g",
                            "variablesReference", 0));
        }
        // To describe a value may call methods, after which this frame is another.
        for (int i = 0; i < locals.size(); i++) {
            LocalVariable local = locals.get(i);
            found.add(variable(local.name(), local.typeName(), values.get(i), holder.thread));
        }
        if (own != null) {
            for (Field field : own.referenceType().fields()) {
                if (field.name().startsWith("val$")) {
                    Value value = own.getValue(field);
                    String name = field.name().substring(4);
                    found.add(variable(name, field.typeName(), value, holder.thread));
                }
            }
            found.add(variable("this", own.type().name(), own, holder.thread));
        }
    }

    private void items(
            ArrayReference array, int start, int count, ThreadReference thread, List<Object> found) {
        int last = count > 0 ? Math.min(array.length(), start + count) : array.length();
        for (int i = start; i < last; i++) {
            found.add(variable("[" + i + "]", "", array.getValue(i), thread));
        }
    }

    private void contents(Holder holder, int start, int count, List<Object> found)
            throws Exception {
        ObjectReference object = holder.object;
        if (is(object, "java.util.Map") && isCollection(object)) {
            Value entries = evaluation.call(object, "entrySet", "()Ljava/util/Set;", holder.thread);
            ArrayReference all = array((ObjectReference) entries, holder.thread);
            int last = count > 0 ? Math.min(all.length(), start + count) : all.length();
            for (int i = start; i < last; i++) {
                ObjectReference entry = (ObjectReference) all.getValue(i);
                Value key = evaluation.call(entry, "getKey", "()Ljava/lang/Object;", holder.thread);
                Value value = evaluation.call(entry, "getValue", "()Ljava/lang/Object;", holder.thread);
                found.add(variable(text(key, holder.thread), "", value, holder.thread));
            }
        } else if (isCollection(object)) {
            items(array(object, holder.thread), start, count, holder.thread, found);
        } else {
            for (Field field : object.referenceType().allFields()) {
                if (!field.isStatic()) {
                    // An inner class keeps its outer object, and what it has captured.
                    String name = field.name().replaceFirst("^val\\$", "");
                    Value value = object.getValue(field);
                    found.add(variable(name, field.typeName(), value, holder.thread));
                }
            }
        }
    }

    private ArrayReference array(ObjectReference collection, ThreadReference thread)
            throws Exception {
        return (ArrayReference)
                evaluation.call(collection, "toArray", "()[Ljava/lang/Object;", thread);
    }

    private Integer size(ObjectReference collection, ThreadReference thread) {
        try {
            return ((PrimitiveValue) evaluation.call(collection, "size", "()I", thread)).intValue();
        } catch (Exception unknown) {
            return null;
        }
    }

    private int hold(Holder holder) {
        holders.put(++numbers, holder);
        return numbers;
    }

    private static boolean isPlain(ObjectReference object) {
        return object instanceof StringReference || isWrapper(object) || isEnum(object);
    }

    private static boolean isWrapper(ObjectReference object) {
        String type = object.referenceType().name();
        return type.startsWith("java.lang.") && WRAPPERS.contains(type.substring(10));
    }

    private static boolean isEnum(ObjectReference object) {
        return object.referenceType() instanceof ClassType
                && ((ClassType) object.referenceType()).isEnum();
    }

    /** Whether it is a collection of Java's own, whose methods do nothing but tell. */
    private static boolean isCollection(ObjectReference object) {
        return object.referenceType().name().startsWith("java.util.")
                && (is(object, "java.util.Collection") || is(object, "java.util.Map"));
    }

    static boolean is(ObjectReference object, String type) {
        if (!(object.referenceType() instanceof ClassType)) {
            return false;
        }
        ClassType own = (ClassType) object.referenceType();
        for (ClassType each = own; each != null; each = each.superclass()) {
            if (each.name().equals(type)) {
                return true;
            }
        }
        for (InterfaceType each : own.allInterfaces()) {
            if (each.name().equals(type)) {
                return true;
            }
        }
        return false;
    }
}
