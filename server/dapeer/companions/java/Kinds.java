import com.sun.jdi.ClassType;
import com.sun.jdi.InterfaceType;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StringReference;
import java.util.List;

/** Which kind of object a value is: a string, a wrapper of a number, an enum constant, a collection. */
final class Kinds {
    private static final List<String> WRAPPERS =
            List.of("Integer", "Long", "Double", "Float", "Short", "Byte", "Boolean", "Character");

    private Kinds() {}

    static boolean isPlain(ObjectReference object) {
        return object instanceof StringReference || isWrapper(object) || isEnum(object);
    }

    static boolean isWrapper(ObjectReference object) {
        String type = object.referenceType().name();
        return type.startsWith("java.lang.") && WRAPPERS.contains(type.substring(10));
    }

    static boolean isEnum(ObjectReference object) {
        // A constant with a body has a class of its own.
        return is(object, "java.lang.Enum");
    }

    /** Whether it is a collection of Java's own, whose getters have no side effects. */
    static boolean isCollection(ObjectReference object) {
        return object.referenceType().name().startsWith("java.util.")
                && (is(object, "java.util.Collection") || is(object, "java.util.Map"));
    }

    /** Whether its methods take a lock: a suspended thread may hold it, and the call would hang. */
    static boolean isLocked(ObjectReference object) {
        return is(object, "java.util.Vector")
                || is(object, "java.util.Hashtable")
                || object.referenceType().name().matches("java\\.util\\.(Collections\\$Synchronized|concurrent\\.).*");
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
