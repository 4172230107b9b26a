import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Whether the program stops where a breakpoint was hit, or an exception thrown; prints log messages. */
final class Conditions {
    private static final Pattern HITS = Pattern.compile("\\s*(>=|>|==|=|<=|<|%)?\\s*(\\d+)\\s*");
    private static final Pattern PART = Pattern.compile("\\{([^{}]+)}");

    private final Evaluation evaluation;
    private final Wire wire;

    Conditions(Evaluation evaluation, Wire wire) {
        this.evaluation = evaluation;
        this.wire = wire;
    }

    /** Count a hit, and return whether its conditions stop the program; a log point prints and does not. */
    boolean isWanted(Breakpoints.Wanted wanted, ThreadReference thread) {
        if (!wanted.condition.isBlank()) {
            try {
                Value value = evaluation.of(wanted.condition, evaluation.frame(thread));
                if ("false".equals(String.valueOf(value))) {
                    return false;
                }
            } catch (Exception wrong) {
                console("Condition `" + wanted.condition + "` failed: " + Wire.why(wrong) + "\n");
            }
        }
        wanted.hits++;
        if (!wanted.hitCondition.isBlank() && !counts(wanted.hitCondition, wanted.hits)) {
            return false;
        }
        if (wanted.logMessage.isBlank()) {
            return true;
        }
        Matcher part = PART.matcher(wanted.logMessage);
        console(part.replaceAll(each -> Matcher.quoteReplacement(logged(each.group(1), thread))) + "\n");
        return false;
    }

    /** Return a value; behind a `=` a text keeps its quotes. */
    private String logged(String expression, ThreadReference thread) {
        boolean quoted = expression.startsWith("=");
        try {
            Value value = evaluation.of(quoted ? expression.substring(1) : expression, evaluation.frame(thread));
            return !quoted && value instanceof StringReference
                    ? ((StringReference) value).value()
                    : new Preview(evaluation).text(value, thread);
        } catch (Exception wrong) {
            return "{error: {" + expression + "}: " + Wire.why(wrong) + "}";
        }
    }

    private boolean counts(String condition, int hits) {
        Matcher found = HITS.matcher(condition);
        if (!found.matches()) {
            console("Hit condition `" + condition + "` failed: expected a number as in 3, >= 3 or % 3\n");
            return true;
        }
        int number = Integer.parseInt(found.group(2));
        switch (found.group(1) == null ? "==" : found.group(1)) {
            case ">":
                return hits > number;
            case ">=":
                return hits >= number;
            case "<":
                return hits < number;
            case "<=":
                return hits <= number;
            case "%":
                return number > 0 && hits % number == 0;
            default:
                return hits == number;
        }
    }

    /** Whether the class of an exception, or one above it, is among names separated by commas or spaces. */
    static boolean isNamed(ObjectReference exception, String names) {
        for (String name : names.split("[,\\s]+")) {
            for (ReferenceType each = exception.referenceType(); each != null; each = above(each)) {
                if (each.name().equals(name) || each.name().matches(".*[.$]" + Pattern.quote(name))) {
                    return true;
                }
            }
        }
        return false;
    }

    private static ReferenceType above(ReferenceType type) {
        return ((com.sun.jdi.ClassType) type).superclass();
    }

    private void console(String text) {
        wire.event("output", "category", "console", "output", text);
    }
}
