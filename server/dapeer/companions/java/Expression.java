import com.sun.jdi.ArrayReference;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads a Java expression and evaluates it on the way: jdb's parser knows no `&&`, `||`, `!`,
 * `instanceof` and `?:`, and no class by its short name.
 */
final class Expression {
    /** The text is no expression that is read here: an assignment, `new`, a lambda. */
    static final class Other extends Exception {
        Other() {
            super("another form");
        }
    }

    private static final Pattern TOKEN =
            Pattern.compile(
                    "\\s*(?:(\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.[0-7]*)')"
                            + "|(0[xX][0-9a-fA-F_]+[lL]?|(?:\\d[\\d_]*\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?[lLfFdD]?)"
                            + "|([\\p{L}_$][\\p{L}\\p{N}_$]*)"
                            + "|(&&|\\|\\||==|!=|<=|>=|>>>|<<|>>|->|::|[-+*/%&|^]=|\\+\\+|--|[-+*/%<>=!~?:.,()\\[\\]&|^]))");
    private static final Pattern TEXT =
            Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.[0-7]*)'");
    private static final Pattern UNSUPPORTED =
            Pattern.compile("(?<![\\w$.])(?:new|switch)(?![\\w$])|->|::");
    private static final String[][] BINARY = {
        {"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">=", "instanceof"},
        {"<<", ">>", ">>>"}, {"+", "-"}, {"*", "/", "%"},
    };

    private final List<String> tokens = new ArrayList<>();
    private final Names names;
    private final Operators with;
    private int next;

    /** Whether what is read is evaluated; otherwise its form alone is checked. */
    private boolean live;

    private Expression(String text, Names names) throws Other {
        this.names = names;
        with = names.operators;
        Matcher token = TOKEN.matcher(text.trim());
        int end = 0;
        while (token.find() && token.start() == end) {
            tokens.add(token.group().trim());
            end = token.end();
        }
        if (end < text.trim().length()) {
            throw new Other();
        }
    }

    static Value of(String text, Names names) throws Exception {
        Expression expression = new Expression(text, names);
        expression.whole();
        expression.next = 0;
        expression.live = true;
        return expression.whole();
    }

    /**
     * Reject what nothing here can evaluate; jdb's parser says another error of it, or has a wrong value.
     *
     * @throws IllegalArgumentException it has `new`, a `switch`, a lambda or a method reference
     */
    static void checkSupported(String text) {
        Matcher found = UNSUPPORTED.matcher(TEXT.matcher(text).replaceAll(""));
        if (found.find()) {
            throw new IllegalArgumentException(
                    "dapeer's debugger for Java cannot evaluate `"
                            + found.group()
                            + "`: it compiles no code. Have the program do it, and ask for a variable, or call one of its methods.");
        }
    }

    private Value whole() throws Exception {
        Object found = conditional();
        if (next < tokens.size()) {
            throw new Other();
        }
        return value(found);
    }

    private Object conditional() throws Exception {
        Object condition = binary(0);
        if (!take("?")) {
            return condition;
        }
        boolean was = live;
        boolean holds = live && with.isTrue(value(condition));
        live = was && holds;
        Object first = conditional();
        expect(":");
        live = was && !holds;
        Object second = conditional();
        live = was;
        return holds ? first : second;
    }

    private Object binary(int level) throws Exception {
        if (level == BINARY.length) {
            return unary();
        }
        Object left = binary(level + 1);
        for (String operator = one(BINARY[level]); operator != null; operator = one(BINARY[level])) {
            if (operator.equals("instanceof")) {
                String type = typeName();
                left = live ? with.is(value(left), names.type(type)) : null;
            } else if (level < 2) {
                boolean was = live;
                boolean decided = live && with.isTrue(value(left)) == (level == 0);
                live = was && !decided;
                Object right = binary(level + 1);
                left = was ? with.of(decided ? level == 0 : with.isTrue(value(right))) : null;
                live = was;
            } else {
                Object right = binary(level + 1);
                left = live ? with.apply(operator, value(left), value(right)) : null;
            }
        }
        return left;
    }

    private Object unary() throws Exception {
        String operator = one("-", "+", "!", "~");
        if (operator != null) {
            Object of = unary();
            return live ? with.apply(operator, value(of)) : null;
        }
        String type = cast();
        if (type != null) {
            Object of = unary();
            return live ? with.cast(type, value(of), names) : null;
        }
        return postfix(primary());
    }

    /** Return the type of a cast that begins here, null: none does. */
    private String cast() throws Exception {
        int begin = next;
        if (take("(") && isName()) {
            String type = typeName();
            boolean behind = take(")") && (isName() || peek().matches("[\"'(!~\\d].*"));
            if (behind && !peek().equals("instanceof") || Operators.PRIMITIVE.contains(type)) {
                return type;
            }
        }
        next = begin;
        return null;
    }

    private Object primary() throws Exception {
        String token = token();
        if (token.equals("(")) {
            Object inside = conditional();
            expect(")");
            return inside;
        }
        if (token.matches("[\"'\\d].*|\\.\\d.*")) {
            return live ? with.literal(token) : null;
        }
        if (!token.matches("[\\p{L}_$].*") || token.equals("new") || token.equals("super")) {
            throw new Other();
        }
        if (peek().equals("(")) {
            List<Value> arguments = arguments();
            return live ? names.call(token, arguments) : null;
        }
        return live ? names.find(token) : null;
    }

    private Object postfix(Object of) throws Exception {
        while (true) {
            if (take("[")) {
                Object index = conditional();
                expect("]");
                of = live ? element(value(of), with.number(value(index)).intValue()) : null;
            } else if (take(".")) {
                String name = token();
                if (!name.matches("[\\p{L}_$].*") || name.equals("new") || name.equals("class")) {
                    throw new Other();
                }
                if (peek().equals("(")) {
                    List<Value> arguments = arguments();
                    of = live ? names.call(of, name, arguments) : null;
                } else {
                    of = live ? names.member(of, name) : null;
                }
            } else {
                return of;
            }
        }
    }

    private static Value element(Value of, int index) {
        if (!(of instanceof ArrayReference)) {
            throw new IllegalArgumentException("This is no array: write .get(" + index + ") for a list.");
        }
        int length = ((ArrayReference) of).length();
        if (index < 0 || index >= length) {
            throw new IllegalArgumentException("Index " + index + " out of bounds for length " + length);
        }
        return ((ArrayReference) of).getValue(index);
    }

    private List<Value> arguments() throws Exception {
        List<Value> found = new ArrayList<>();
        expect("(");
        while (!take(")")) {
            if (!found.isEmpty()) {
                expect(",");
            }
            found.add(value(conditional()));
        }
        return found;
    }

    /** Return a value; a name that is none is an error. */
    private Value value(Object found) {
        if (found instanceof ReferenceType || found instanceof String) {
            String name = found instanceof String ? (String) found : ((ReferenceType) found).name();
            throw new IllegalArgumentException("Name unknown: " + name);
        }
        return (Value) found;
    }

    private String typeName() throws Exception {
        StringBuilder name = new StringBuilder(token());
        while (take(".")) {
            name.append('.').append(token());
        }
        while (take("[")) {
            expect("]");
            name.append("[]");
        }
        return name.toString();
    }

    private boolean isName() {
        return peek().matches("[\\p{L}_$].*");
    }

    private String peek() {
        return next < tokens.size() ? tokens.get(next) : "";
    }

    private String token() throws Other {
        if (next == tokens.size()) {
            throw new Other();
        }
        return tokens.get(next++);
    }

    private boolean take(String wanted) {
        boolean there = peek().equals(wanted);
        next += there ? 1 : 0;
        return there;
    }

    private String one(String... wanted) {
        for (String each : wanted) {
            if (take(each)) {
                return each;
            }
        }
        return null;
    }

    private void expect(String wanted) throws Other {
        if (!take(wanted)) {
            throw new Other();
        }
    }
}
