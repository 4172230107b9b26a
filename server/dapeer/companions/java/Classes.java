import com.sun.jdi.ClassLoaderReference;
import com.sun.jdi.ClassObjectReference;
import com.sun.jdi.ClassType;
import com.sun.jdi.InvocationException;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Finds the classes that the code of a frame knows, and loads them. */
final class Classes {
    private final VirtualMachine vm;
    private final Frames.Frame frame;

    Classes(VirtualMachine vm, Frames.Frame frame) {
        this.vm = vm;
        this.frame = frame;
    }

    /** Return a class by its short name, as the code that runs may know it: null if there is none. */
    ReferenceType known(String name, List<ReferenceType> around) throws Exception {
        Set<String> candidates = new LinkedHashSet<>();
        for (ReferenceType each : around) {
            candidates.add(each.name() + "$" + name);
        }
        String own = frame.get().location().declaringType().name();
        candidates.add(own.substring(0, own.lastIndexOf('.') + 1) + name);
        candidates.add("java.lang." + name);
        for (String each : candidates) {
            ReferenceType found = loaded(each);
            if (found != null) {
                return found;
            }
        }
        // One that is imported has been loaded, as a rule.
        List<ReferenceType> same = new ArrayList<>();
        for (ReferenceType each : vm.allClasses()) {
            if (each.name().endsWith("." + name) || each.name().endsWith("$" + name)) {
                same.add(each);
            }
        }
        same.removeIf(each -> same.size() > 1 && !each.name().equals("java.util." + name));
        return same.size() == 1 ? same.get(0) : Character.isUpperCase(name.charAt(0)) ? loaded("java.util." + name) : null;
    }

    /** Return a class by its whole name, which may have to be loaded; null if there is none. */
    ReferenceType loaded(String name) throws Exception {
        List<ReferenceType> there = vm.classesByName(name);
        if (!there.isEmpty()) {
            return there.get(0);
        }
        if (!Character.isUpperCase(name.charAt(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1))) {
            return null;
        }
        try {
            return forName(name, frame.get().location().declaringType().classLoader());
        } catch (InvocationException none) {
            return null;
        }
    }

    /** Return a class whose static fields have their values. */
    ReferenceType initialized(ReferenceType type) throws Exception {
        if (type instanceof ClassType && !((ClassType) type).isInitialized()) {
            return forName(type.name(), type.classLoader());
        }
        return type;
    }

    private ReferenceType forName(String name, ClassLoaderReference loader) throws Exception {
        ClassType classes = (ClassType) vm.classesByName("java.lang.Class").get(0);
        String signature = "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;";
        Method method = classes.methodsByName("forName", signature).get(0);
        List<Value> given = new ArrayList<>(List.of(vm.mirrorOf(name), vm.mirrorOf(true)));
        given.add(loader);
        Value found = classes.invokeMethod(frame.thread, method, given, ClassType.INVOKE_SINGLE_THREADED);
        return ((ClassObjectReference) found).reflectedType();
    }
}
