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
        return message == null ? type : type + ": " + message;
    }

    /** Return the body of DAP's `exceptionInfo` response. */
    Map<String, Object> info(ThreadReference thread) {
        ExceptionEvent event = thrown.get(thread.uniqueID());
        if (event == null) {
            throw new IllegalStateException("This thread has not stopped at an exception.");
        }
        ObjectReference exception = event.exception();
        String type = exception.referenceType().name();
        String message = message(exception, thread);
        List<Object> inner = new ArrayList<>();
        Value cause = exception.getValue(exception.referenceType().fieldByName("cause"));
        if (cause != null && !cause.equals(exception)) {
            ObjectReference other = (ObjectReference) cause;
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
