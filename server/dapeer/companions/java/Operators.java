import com.sun.jdi.ArrayType;
import com.sun.jdi.BooleanValue;
import com.sun.jdi.CharValue;
import com.sun.jdi.ClassType;
import com.sun.jdi.InterfaceType;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StringReference;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What Java's operators, casts and literals mean for values of the program. */
final class Operators {
    static final List<String> PRIMITIVE =
            List.of("byte", "short", "char", "int", "long", "float", "double", "boolean");
    private static final Map<Character, Character> ESCAPES =
            Map.of('n', '\n', 't', '\t', 'r', '\r', 'b', '\b', 'f', '\f', '0', '\0');

    private final VirtualMachine vm;
    private final Evaluation evaluation;
    private final Frames.Frame frame;

    Operators(VirtualMachine vm, Evaluation evaluation, Frames.Frame frame) {
        this.vm = vm;
        this.evaluation = evaluation;
        this.frame = frame;
    }

    Value of(boolean value) {
        return vm.mirrorOf(value);
    }

    boolean isTrue(Value value) {
        Value plain = unboxed(value);
        if (!(plain instanceof BooleanValue)) {
            throw new IllegalArgumentException("This is no boolean: " + value);
        }
        return ((BooleanValue) plain).value();
    }

    /** Return the value in an `Integer` and its like; any other value as it is. */
    static Value unboxed(Value value) {
        if (value instanceof ObjectReference && !(value instanceof StringReference)) {
            ObjectReference object = (ObjectReference) value;
            boolean box = object.referenceType().name().matches(
                    "java\\.lang\\.(Integer|Long|Short|Byte|Character|Boolean|Float|Double)");
            return box ? object.getValue(object.referenceType().fieldByName("value")) : value;
        }
        return value;
    }

    Number number(Value value) {
        Value plain = unboxed(value);
        if (plain instanceof CharValue) {
            return (int) ((CharValue) plain).value();
        }
        if (!(plain instanceof PrimitiveValue) || plain instanceof BooleanValue) {
            throw new IllegalArgumentException("This is no number: " + plain);
        }
        PrimitiveValue of = (PrimitiveValue) plain;
        switch (of.type().name()) {
            case "double":
                return of.doubleValue();
            case "float":
                return of.floatValue();
            case "long":
                return of.longValue();
            default:
                return of.intValue();
        }
    }

    Value literal(String token) {
        if (token.startsWith("\"") || token.startsWith("'")) {
            StringBuilder text = new StringBuilder();
            for (int i = 1; i < token.length() - 1; i++) {
                char each = token.charAt(i);
                if (each == '\\') {
                    each = token.charAt(++i);
                    each = ESCAPES.getOrDefault(each, each);
                    if (token.charAt(i) == 'u') {
                        each = (char) Integer.parseInt(token.substring(i + 1, i + 5), 16);
                        i += 4;
                    }
                }
                text.append(each);
            }
            return token.startsWith("'") ? vm.mirrorOf(text.charAt(0)) : vm.mirrorOf(text.toString());
        }
        String digits = token.replace("_", "").toLowerCase();
        boolean hex = digits.startsWith("0x");
        if (digits.endsWith("l")) {
            return vm.mirrorOf(Long.decode(digits.substring(0, digits.length() - 1)));
        }
        if (!hex && digits.endsWith("f")) {
            return vm.mirrorOf(Float.parseFloat(digits));
        }
        if (!hex && digits.matches(".*[.ed].*")) {
            return vm.mirrorOf(Double.parseDouble(digits));
        }
        return vm.mirrorOf(hex ? (int) Long.parseLong(digits.substring(2), 16) : Integer.decode(digits));
    }

    Value apply(String operator, Value of) {
        if (operator.equals("!")) {
            return of(!isTrue(of));
        }
        Number number = number(of);
        if (operator.equals("~")) {
            return integral("^", number, -1);
        }
        return operator.equals("-") ? arithmetic("-", number instanceof Double ? -0.0 : 0, number) : of;
    }

    Value apply(String operator, Value left, Value right) throws Exception {
        if (operator.equals("+") && (left instanceof StringReference || right instanceof StringReference)) {
            return vm.mirrorOf(text(left) + text(right));
        }
        if (operator.equals("==") || operator.equals("!=")) {
            return of(same(left, right) == operator.equals("=="));
        }
        if (unboxed(left) instanceof BooleanValue && "&|^".contains(operator)) {
            boolean one = isTrue(left);
            boolean other = isTrue(right);
            return of(operator.equals("&") ? one && other : operator.equals("|") ? one || other : one != other);
        }
        Number one = number(left);
        Number other = number(right);
        if (operator.startsWith("<") && operator.length() < 2 || operator.matches("[<>]=|>")) {
            int order = isReal(one, other)
                    ? Double.compare(one.doubleValue(), other.doubleValue())
                    : Long.compare(one.longValue(), other.longValue());
            boolean unordered = Double.isNaN(one.doubleValue()) || Double.isNaN(other.doubleValue());
            return of(!unordered && (order == 0 ? operator.endsWith("=") : (order < 0) == operator.startsWith("<")));
        }
        return "&|^<<>>>".contains(operator) ? integral(operator, one, other) : arithmetic(operator, one, other);
    }

    private static boolean isReal(Number one, Number other) {
        return one instanceof Double || one instanceof Float || other instanceof Double || other instanceof Float;
    }

    private boolean same(Value left, Value right) {
        if (left instanceof PrimitiveValue || right instanceof PrimitiveValue) {
            Value one = unboxed(left);
            Value other = unboxed(right);
            if (one instanceof BooleanValue && other instanceof BooleanValue) {
                return one.equals(other);
            }
            return isReal(number(one), number(other))
                    ? number(one).doubleValue() == number(other).doubleValue()
                    : number(one).longValue() == number(other).longValue();
        }
        if (left instanceof StringReference && right instanceof StringReference) {
            // A literal of the program and one of ours are never the same object.
            return ((StringReference) left).value().equals(((StringReference) right).value());
        }
        return left == null ? right == null : left.equals(right);
    }

    private String text(Value value) throws Exception {
        if (value instanceof StringReference) {
            return ((StringReference) value).value();
        }
        if (!(value instanceof ObjectReference)) {
            return String.valueOf(value);
        }
        Value told = evaluation.call((ObjectReference) value, "toString", "()Ljava/lang/String;", frame.thread);
        evaluation.busy = frame.thread;
        return String.valueOf(told == null ? null : ((StringReference) told).value());
    }

    private Value arithmetic(String operator, Number one, Number other) {
        if (one instanceof Double || other instanceof Double) {
            return vm.mirrorOf(real(operator, one.doubleValue(), other.doubleValue()));
        }
        if (isReal(one, other)) {
            return vm.mirrorOf((float) real(operator, one.floatValue(), other.floatValue()));
        }
        long a = one.longValue();
        long b = other.longValue();
        long found = operator.equals("+") ? a + b : operator.equals("-") ? a - b : operator.equals("*") ? a * b
                : operator.equals("/") ? a / b : a % b;
        return one instanceof Long || other instanceof Long ? vm.mirrorOf(found) : vm.mirrorOf((int) found);
    }

    private static double real(String operator, double a, double b) {
        return operator.equals("+") ? a + b : operator.equals("-") ? a - b : operator.equals("*") ? a * b
                : operator.equals("/") ? a / b : a % b;
    }

    private Value integral(String operator, Number one, Number other) {
        if (isReal(one, other)) {
            throw new IllegalArgumentException("`" + operator + "` needs whole numbers.");
        }
        boolean shift = operator.length() > 1;
        boolean wide = one instanceof Long || !shift && other instanceof Long;
        long a = one.longValue();
        long b = shift ? other.longValue() & (wide ? 63 : 31) : other.longValue();
        long found = operator.equals("&") ? a & b : operator.equals("|") ? a | b : operator.equals("^") ? a ^ b
                : operator.equals("<<") ? a << b : operator.equals(">>") ? a >> b
                : wide ? a >>> b : (int) a >>> b;
        return wide ? vm.mirrorOf(found) : vm.mirrorOf((int) found);
    }

    Value cast(String type, Value of, Names names) throws Exception {
        if (!PRIMITIVE.contains(type)) {
            ReferenceType wanted = names.type(type);
            if (of != null && !isTrue(is(of, wanted))) {
                throw new IllegalArgumentException("A " + of.type().name() + " is no " + wanted.name() + ".");
            }
            return of;
        }
        if (type.equals("boolean")) {
            return of(isTrue(of));
        }
        return converted(number(of), type);
    }

    /** Return a number as a value of a primitive type. */
    Value converted(Number number, String type) {
        boolean real = number instanceof Double || number instanceof Float;
        long whole = real ? (type.equals("long") ? (long) number.doubleValue() : (int) number.doubleValue()) : number.longValue();
        switch (type) {
            case "double":
                return vm.mirrorOf(number.doubleValue());
            case "float":
                return vm.mirrorOf(number.floatValue());
            case "long":
                return vm.mirrorOf(whole);
            case "short":
                return vm.mirrorOf((short) whole);
            case "byte":
                return vm.mirrorOf((byte) whole);
            case "char":
                return vm.mirrorOf((char) whole);
            default:
                return vm.mirrorOf((int) whole);
        }
    }

    Value is(Value value, ReferenceType type) {
        return of(value instanceof ObjectReference && isA(((ObjectReference) value).referenceType(), type.name()));
    }

    /** Whether a class is another, or inherits from it. */
    static boolean isA(ReferenceType type, String name) {
        if (type.name().equals(name) || name.equals("java.lang.Object")) {
            return true;
        }
        List<ReferenceType> above = new ArrayList<>();
        if (type instanceof ClassType && ((ClassType) type).superclass() != null) {
            above.add(((ClassType) type).superclass());
        }
        above.addAll(type instanceof ClassType ? ((ClassType) type).interfaces()
                : type instanceof InterfaceType ? ((InterfaceType) type).superinterfaces() : List.of());
        return !(type instanceof ArrayType) && above.stream().anyMatch(each -> isA(each, name));
    }
}
