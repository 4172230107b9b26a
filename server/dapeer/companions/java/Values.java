import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.ArrayReference;
import com.sun.jdi.Field;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Variables as DAP describes them, and the `variablesReference` of each container. */
final class Values {
    /** A container of variables: a frame, or an object with the thread that runs its methods. */
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
    private final Preview preview;
    private final Map<Integer, Holder> holders = new HashMap<>();
    private int numbers;

    Values(Evaluation evaluation) {
        this.evaluation = evaluation;
        preview = new Preview(evaluation);
    }

    /** Forget all references: the program resumes. */
    void clear() {
        holders.clear();
        numbers = 0;
    }

    int ofFrame(Frames.Frame frame) {
        return hold(new Holder(frame, null, frame.thread));
    }

    /** Return the variables in a container. */
    List<Object> in(int reference, int start, int count) throws Exception {
        Holder holder = holders.get(reference);
        if (holder == null) {
            throw new IllegalArgumentException("The program has resumed since then, so this reference is stale.");
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

    /** Set a variable in a container, and return its new description. */
    Map<String, Object> set(int reference, String name, String expression) throws Exception {
        Holder holder = holders.get(reference);
        if (holder == null || holder.object != null && Kinds.isCollection(holder.object)) {
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
        String text = preview.text(value, thread);
        if (value instanceof ObjectReference && !Kinds.isPlain((ObjectReference) value)) {
            ObjectReference object = (ObjectReference) value;
            if (object instanceof ArrayReference) {
                indexed = ((ArrayReference) object).length();
            } else if (Kinds.isCollection(object)) {
                Integer size = preview.size(object, thread);
                boolean map = Kinds.is(object, "java.util.Map");
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
            // Compiled without -g: the arguments have values, but no names.
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
        // Describing a value may call methods, which invalidates the frame. So all are read before.
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
        if (Kinds.is(object, "java.util.Map") && Kinds.isCollection(object)) {
            Value entries = evaluation.call(object, "entrySet", "()Ljava/util/Set;", holder.thread);
            ArrayReference all = preview.array((ObjectReference) entries, holder.thread);
            int last = count > 0 ? Math.min(all.length(), start + count) : all.length();
            for (int i = start; i < last; i++) {
                ObjectReference entry = (ObjectReference) all.getValue(i);
                Value key = evaluation.call(entry, "getKey", "()Ljava/lang/Object;", holder.thread);
                Value value = evaluation.call(entry, "getValue", "()Ljava/lang/Object;", holder.thread);
                found.add(variable(preview.text(key, holder.thread), "", value, holder.thread));
            }
        } else if (Kinds.isCollection(object)) {
            items(preview.array(object, holder.thread), start, count, holder.thread, found);
        } else {
            for (Field field : object.referenceType().allFields()) {
                if (!field.isStatic()) {
                    // An inner class has its outer object and captured variables as fields.
                    String name = field.name().replaceFirst("^val\\$", "");
                    Value value = object.getValue(field);
                    found.add(variable(name, field.typeName(), value, holder.thread));
                }
            }
        }
    }

    private int hold(Holder holder) {
        holders.put(++numbers, holder);
        return numbers;
    }
}
