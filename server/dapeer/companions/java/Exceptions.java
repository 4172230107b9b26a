import com.sun.jdi.ArrayReference;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.event.ExceptionEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The exceptions at which threads are stopped, and what they say. */
final class Exceptions {
    /** Causes of causes that are told. */
    private static final int CAUSES = 5;

    private final Evaluation evaluation;
    private final Map<Long, ExceptionEvent> thrown = new HashMap<>();

    Exceptions(Evaluation evaluation) {
        this.evaluation = evaluation;
    }

    /** Forget all: the program resumes. */
    void clear() {
        thrown.clear();
    }

    /** Keep the exception at which a thread stops, and return it in one line. */
    String keep(ExceptionEvent event) {
        thrown.put(event.thread().uniqueID(), event);
        String type = event.exception().referenceType().name();
        String message = message(event.exception(), event.thread());
        return (message == null ? type : type + ": " + message) + causes(event.exception(), event.thread());
    }

    /** Return what caused an exception, and where, one line each; empty: nothing did. */
    private String causes(ObjectReference exception, ThreadReference thread) {
        StringBuilder told = new StringBuilder();
        ObjectReference each = cause(exception);
        for (int i = 0; i < CAUSES && each != null; i++) {
            String message = message(each, thread);
            told.append("\ncaused by ").append(each.referenceType().name());
            told.append(message == null ? "" : ": " + message).append(place(each, thread));
            each = cause(each);
        }
        return told.toString();
    }

    private static ObjectReference cause(ObjectReference exception) {
        Value cause = exception.getValue(exception.referenceType().fieldByName("cause"));
        return cause == null || cause.equals(exception) ? null : (ObjectReference) cause;
    }

    /** Return where the program's own code threw an exception, as ` at Shop.java:7 in total`; empty: it is not known. */
    private String place(ObjectReference exception, ThreadReference thread) {
        try {
            Value trace =
                    evaluation.call(exception, "getStackTrace", "()[Ljava/lang/StackTraceElement;", thread);
            for (Value each : ((ArrayReference) trace).getValues()) {
                ObjectReference frame = (ObjectReference) each;
                if (!field(frame, "declaringClass").matches("(java|javax|jdk|sun|com\\.sun)\\..*")) {
                    Value line = frame.getValue(frame.referenceType().fieldByName("lineNumber"));
                    return " at " + field(frame, "fileName") + ":" + line + " in " + field(frame, "methodName");
                }
            }
        } catch (Exception unknown) {
            // Its trace is not needed.
        }
        return "";
    }

    private static String field(ObjectReference object, String name) {
        Value text = object.getValue(object.referenceType().fieldByName(name));
        return text == null ? "?" : ((StringReference) text).value();
    }

    /** Return the body of DAP's `exceptionInfo` response. */
    Map<String, Object> info(ThreadReference thread) {
        ExceptionEvent event = thrown.get(thread.uniqueID());
        if (event == null) {
            throw new IllegalStateException("This thread has not stopped at an exception.");
        }
        ObjectReference exception = event.exception();
        String type = exception.referenceType().name();
        String own = message(exception, thread);
        String causes = causes(exception, thread);
        String message = causes.isEmpty() ? own : (own == null ? "" : own) + causes;
        List<Object> inner = new ArrayList<>();
        ObjectReference other = cause(exception);
        if (other != null) {
            inner.add(
                    Json.of(
                            "message", message(other, thread),
                            "fullTypeName", other.referenceType().name(),
                            "typeName", other.referenceType().name()));
        }
        return Json.of(
                "exceptionId", type,
                "description", message,
                "breakMode", event.catchLocation() == null ? "unhandled" : "always",
                "details",
                        Json.of(
                                "message", message,
                                "typeName", type.substring(type.lastIndexOf('.') + 1),
                                "fullTypeName", type,
                                "innerException", inner.isEmpty() ? null : inner));
    }

    /**
     * Return an exception's message. `getMessage` is called for Java's own classes alone: there it
     * says what was null, and has no effect on the program.
     */
    private String message(ObjectReference exception, ThreadReference thread) {
        Value message =
                exception.getValue(exception.referenceType().fieldByName("detailMessage"));
        if (message == null && exception.referenceType().name().startsWith("java.")) {
            try {
                message =
                        evaluation.call(
                                exception, "getMessage", "()Ljava/lang/String;", thread);
            } catch (Exception silent) {
                return null;
            }
        }
        return message == null ? null : ((StringReference) message).value();
    }
}
