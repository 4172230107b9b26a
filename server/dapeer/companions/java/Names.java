import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.ArrayReference;
import com.sun.jdi.ClassType;
import com.sun.jdi.Field;
import com.sun.jdi.InterfaceType;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import java.util.ArrayList;
import java.util.List;

/** What a name means in a frame: a variable, a field, a class, or a part of a class's long name; and calls methods. */
final class Names {
    final Operators operators;
    private final VirtualMachine vm;
    private final Frames.Frame frame;
    private final Classes classes;
    private final Calls calls;

    Names(VirtualMachine vm, Evaluation evaluation, Frames.Frame frame) {
        this.vm = vm;
        this.frame = frame;
        operators = new Operators(vm, evaluation, frame);
        classes = new Classes(vm, frame);
        calls = new Calls(vm, frame, operators);
    }

    /** Return what a name means: a value, a class, or the name itself, which may begin a longer one. */
    Object find(String name) throws Exception {
        switch (name) {
            case "true":
            case "false":
                return vm.mirrorOf(name.equals("true"));
            case "null":
                return null;
            case "this":
                return self();
            default:
        }
        try {
            LocalVariable local = frame.get().visibleVariableByName(name);
            if (local != null) {
                return frame.get().getValue(local);
            }
        } catch (AbsentInformationException withoutNames) {
            // Compiled without -g.
        }
        for (ObjectReference each : selves()) {
            for (String kept : new String[] {"val$" + name, name}) {
                Field field = each.referenceType().fieldByName(kept);
                if (field != null) {
                    return each.getValue(field);
                }
            }
        }
        for (ReferenceType each : around()) {
            Field field = each.fieldByName(name);
            if (field != null && field.isStatic()) {
                return each.getValue(field);
            }
        }
        ReferenceType type = classes.known(name, around());
        return type == null ? name : type;
    }

    /** Return a member: a field, a nested class, or a longer name. */
    Object member(Object of, String name) throws Exception {
        if (of instanceof String) {
            ReferenceType type = classes.loaded(of + "." + name);
            return type == null ? of + "." + name : type;
        }
        if (of instanceof ReferenceType) {
            ReferenceType type = (ReferenceType) of;
            Field field = type.fieldByName(name);
            if (field != null && field.isStatic()) {
                return classes.initialized(type).getValue(field);
            }
            ReferenceType nested = classes.loaded(type.name() + "$" + name);
            if (nested == null) {
                throw unknown(type.name() + "." + name);
            }
            return nested;
        }
        ObjectReference object = object(of, name);
        if (object instanceof ArrayReference && name.equals("length")) {
            return vm.mirrorOf(((ArrayReference) object).length());
        }
        Field field = object.referenceType().fieldByName(name);
        if (field == null) {
            throw new IllegalArgumentException(
                    object.referenceType().name() + " has no field " + name + ": a method is called as " + name + "()");
        }
        return object.getValue(field);
    }

    /** Call a method by its name alone: one of this object or class, or of those around it. */
    Value call(String name, List<Value> arguments) throws Exception {
        for (ObjectReference each : selves()) {
            if (!each.referenceType().methodsByName(name).isEmpty()) {
                return call(each, name, arguments);
            }
        }
        for (ReferenceType each : around()) {
            if (!each.methodsByName(name).isEmpty()) {
                return call(each, name, arguments);
            }
        }
        throw unknown(name);
    }

    /** Call a method of an object or of a class. */
    Value call(Object of, String name, List<Value> arguments) throws Exception {
        if (of instanceof String) {
            throw unknown((String) of);
        }
        boolean isStatic = of instanceof ReferenceType;
        ReferenceType type = isStatic ? (ReferenceType) of : object(of, name).referenceType();
        Method best = null;
        int most = -1;
        for (Method each : type.methodsByName(name)) {
            int fits = calls.fits(each, arguments);
            if (fits > most && (each.isStatic() || !isStatic)) {
                best = each;
                most = fits;
            }
        }
        if (best == null) {
            throw new IllegalArgumentException(type.name() + " has no method " + name + " for these arguments");
        }
        List<Value> given = calls.passed(best, arguments);
        if (!best.isStatic()) {
            return ((ObjectReference) of).invokeMethod(frame.thread, best, given, ClassType.INVOKE_SINGLE_THREADED);
        }
        ReferenceType owner = best.declaringType();
        return owner instanceof InterfaceType
                ? ((InterfaceType) owner).invokeMethod(frame.thread, best, given, ClassType.INVOKE_SINGLE_THREADED)
                : ((ClassType) owner).invokeMethod(frame.thread, best, given, ClassType.INVOKE_SINGLE_THREADED);
    }

    /** Return a class by a name as in the source. */
    ReferenceType type(String name) throws Exception {
        String[] parts = name.split("\\.");
        Object found = parts.length > 0 ? classes.known(parts[0], around()) : null;
        found = found == null ? parts[0] : found;
        for (int i = 1; i < parts.length; i++) {
            found = member(found, parts[i]);
        }
        if (!(found instanceof ReferenceType)) {
            throw unknown(name);
        }
        return (ReferenceType) found;
    }

    private static IllegalArgumentException unknown(String name) {
        return new IllegalArgumentException("Name unknown: " + name);
    }

    private static ObjectReference object(Object of, String name) {
        if (of == null) {
            throw new IllegalArgumentException("null has no " + name);
        }
        if (!(of instanceof ObjectReference)) {
            throw new IllegalArgumentException(of + " is a primitive value, which has no " + name);
        }
        return (ObjectReference) of;
    }

    private ObjectReference self() throws Exception {
        return frame.get().thisObject();
    }

    /** Return this object and those of the classes around its class. */
    private List<ObjectReference> selves() throws Exception {
        List<ObjectReference> found = new ArrayList<>();
        ObjectReference each = self();
        while (each != null) {
            found.add(each);
            ObjectReference outer = null;
            for (Field field : each.referenceType().fields()) {
                if (field.name().startsWith("this$")) {
                    outer = (ObjectReference) each.getValue(field);
                }
            }
            each = outer;
        }
        return found;
    }

    /** Return the class whose code runs, and those around it. */
    private List<ReferenceType> around() throws Exception {
        List<ReferenceType> found = new ArrayList<>();
        String name = frame.get().location().declaringType().name();
        found.add(frame.get().location().declaringType());
        while (name.lastIndexOf('$') > 0) {
            name = name.substring(0, name.lastIndexOf('$'));
            found.addAll(vm.classesByName(name));
        }
        return found;
    }
}
