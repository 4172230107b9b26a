import com.sun.jdi.ArrayReference;
import com.sun.jdi.ArrayType;
import com.sun.jdi.ClassType;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import java.util.ArrayList;
import java.util.List;

/** Which method takes given arguments, and how they are passed. */
final class Calls {
    private static final String[] BOXES = {
        "byte", "Byte", "short", "Short", "char", "Character", "int", "Integer",
        "long", "Long", "float", "Float", "double", "Double", "boolean", "Boolean",
    };

    private final VirtualMachine vm;
    private final Frames.Frame frame;
    private final Operators operators;

    Calls(VirtualMachine vm, Frames.Frame frame, Operators operators) {
        this.vm = vm;
        this.frame = frame;
        this.operators = operators;
    }

    /** Return how well a method takes arguments; negative: it does not. */
    int fits(Method method, List<Value> arguments) {
        List<String> wanted = method.argumentTypeNames();
        if (wanted.size() != arguments.size()) {
            return method.isVarArgs() && arguments.size() >= wanted.size() - 1 ? 0 : -1;
        }
        int sum = 1 + (method.isAbstract() ? 0 : 1);
        for (int i = 0; i < wanted.size(); i++) {
            int one = fits(arguments.get(i), wanted.get(i));
            if (one < 0) {
                return method.isVarArgs() && i == wanted.size() - 1 ? 0 : -1;
            }
            sum += one;
        }
        return sum;
    }

    private static int fits(Value value, String type) {
        boolean primitive = Operators.PRIMITIVE.contains(type);
        if (value == null) {
            return primitive ? -1 : 10;
        }
        Value plain = Operators.unboxed(value);
        if (!(plain instanceof PrimitiveValue)) {
            ReferenceType own = ((ObjectReference) value).referenceType();
            return primitive ? -1 : own.name().equals(type) ? 30 : Operators.isA(own, type) ? type.equals("java.lang.Object") ? 5 : 20 : -1;
        }
        String own = plain.type().name();
        if (!primitive) {
            return type.equals(box(own)) ? 20 : type.matches("java\\.lang\\.(Object|Number|Comparable)") ? 5 : -1;
        }
        int from = own.equals("char") ? 1 : Operators.PRIMITIVE.indexOf(own);
        int to = Operators.PRIMITIVE.indexOf(type);
        boolean logical = own.equals("boolean") || type.equals("boolean") || type.equals("char");
        return own.equals(type) ? 30 : logical || from > to ? -1 : 20 - (to - from);
    }

    private static String box(String primitive) {
        for (int i = 0; i < BOXES.length; i += 2) {
            if (BOXES[i].equals(primitive)) {
                return "java.lang." + BOXES[i + 1];
            }
        }
        return "";
    }

    /** Return arguments as a method takes them. */
    List<Value> passed(Method method, List<Value> arguments) throws Exception {
        List<String> wanted = method.argumentTypeNames();
        List<Value> given = new ArrayList<>();
        int last = wanted.size() - 1;
        boolean spread = method.isVarArgs() && (arguments.size() != wanted.size() || fits(arguments.get(last), wanted.get(last)) < 0);
        for (int i = 0; i < (spread ? last : wanted.size()); i++) {
            given.add(passed(arguments.get(i), wanted.get(i)));
        }
        if (spread) {
            ArrayType type = (ArrayType) method.argumentTypes().get(last);
            ArrayReference rest = type.newInstance(arguments.size() - last);
            rest.disableCollection();
            for (int i = last; i < arguments.size(); i++) {
                rest.setValue(i - last, passed(arguments.get(i), type.componentTypeName()));
            }
            given.add(rest);
        }
        return given;
    }

    private Value passed(Value value, String type) throws Exception {
        if (Operators.PRIMITIVE.contains(type)) {
            return type.equals("boolean") ? Operators.unboxed(value) : operators.converted(operators.number(value), type);
        }
        if (!(value instanceof PrimitiveValue)) {
            return value;
        }
        ClassType box = (ClassType) vm.classesByName(box(value.type().name())).get(0);
        for (Method each : box.methodsByName("valueOf")) {
            if (each.argumentTypeNames().equals(List.of(value.type().name()))) {
                return box.invokeMethod(frame.thread, each, List.of(value), ClassType.INVOKE_SINGLE_THREADED);
            }
        }
        throw new IllegalArgumentException("No box for " + value);
    }
}
