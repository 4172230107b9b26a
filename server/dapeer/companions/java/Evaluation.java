import com.sun.jdi.ClassType;
import com.sun.jdi.Field;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.InvocationException;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.tools.example.debug.expr.ExpressionParser;
import com.sun.tools.example.debug.expr.ParseException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Evaluates Java expressions in a frame, with the parser of the JDK's own `jdb`. */
final class Evaluation {
    private static final Pattern UNKNOWN = Pattern.compile("Name unknown: ([\\w$]+)");

    private final VirtualMachine vm;

    /** The thread that runs a method for an evaluation: its events do not stop the program. */
    volatile ThreadReference busy;

    Evaluation(VirtualMachine vm) {
        this.vm = vm;
    }

    Frames.Frame frame(ThreadReference thread) {
        return new Frames.Frame(thread, 0);
    }

    Value of(String expression, Frames.Frame frame) throws Exception {
        busy = frame.thread;
        try {
            return read(expression, frame);
        } catch (InvocationException thrown) {
            throw new IllegalArgumentException(
                    "The expression threw " + thrown.exception().referenceType().name(), thrown);
        } catch (IncompatibleThreadStateException running) {
            throw new IllegalArgumentException("The thread is not suspended.", running);
        } finally {
            busy = null;
        }
    }

    private Value read(String expression, Frames.Frame frame) throws Exception {
        try {
            return Expression.of(expression, new Names(vm, this, frame));
        } catch (Expression.Other assignment) {
            Expression.checkSupported(expression);
            return parsed(expression, frame);
        }
    }

    /** Resolve names that jdb's parser does not know: fields of outer classes, captured variables. */
    private Value parsed(String expression, Frames.Frame frame) throws Exception {
        String sought = expression;
        for (int tries = 0; ; tries++) {
            try {
                return ExpressionParser.evaluate(sought, vm, frame::get);
            } catch (ParseException unknown) {
                Matcher name = UNKNOWN.matcher(unknown.getMessage());
                String outside = name.find() ? outside(name.group(1), frame) : null;
                if (outside == null || tries == 9) {
                    throw unknown;
                }
                String alone = "(?<![\\w.$])" + Pattern.quote(name.group(1)) + "(?![\\w$])";
                sought = sought.replaceAll(alone, Matcher.quoteReplacement(outside));
            }
        }
    }

    /** Return the path from `this` to a captured variable, or a field of an outer object. */
    private static String outside(String name, Frames.Frame frame) throws Exception {
        ObjectReference object = frame.get().thisObject();
        String way = "this";
        while (object != null) {
            ReferenceType type = object.referenceType();
            if (type.fieldByName("val$" + name) != null) {
                return way + ".val$" + name;
            }
            if (!way.equals("this") && type.fieldByName(name) != null) {
                return way + "." + name;
            }
            ObjectReference outer = null;
            for (Field field : type.fields()) {
                if (field.name().startsWith("this$")) {
                    way += "." + field.name();
                    outer = (ObjectReference) object.getValue(field);
                }
            }
            object = outer;
        }
        return null;
    }

    Value call(ObjectReference object, String name, String signature, ThreadReference thread)
            throws Exception {
        ClassType type = (ClassType) object.referenceType();
        Method method = type.concreteMethodByName(name, signature);
        if (method == null) {
            method = type.methodsByName(name, signature).get(0);
        }
        busy = thread;
        try {
            return object.invokeMethod(
                    thread, method, List.of(), ClassType.INVOKE_SINGLE_THREADED);
        } finally {
            busy = null;
        }
    }
}
