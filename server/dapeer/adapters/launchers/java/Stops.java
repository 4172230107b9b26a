import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.ExceptionEvent;
import com.sun.jdi.event.LocatableEvent;
import com.sun.jdi.event.StepEvent;
import com.sun.jdi.event.VMDeathEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.event.VMStartEvent;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.ExceptionRequest;
import com.sun.jdi.request.StepRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the program's Java tells: whether the program stops there, and why. */
final class Stops {
    private static final Pattern HITS = Pattern.compile("\\s*(>=|>|==|=|<=|<|%)?\\s*(\\d+)\\s*");
    private static final Pattern PART = Pattern.compile("\\{([^{}]+)}");
    private static final String[] LIBRARIES = {"java.*", "javax.*", "jdk.*", "sun.*", "com.sun.*"};

    private final VirtualMachine vm;
    private final Wire wire;
    private final Breakpoints breakpoints;
    private final Evaluation evaluation;
    private final ExecutorService worker;
    private final Runnable over;
    private final Map<Long, ExceptionEvent> thrown = new HashMap<>();
    private final List<ExceptionRequest> exceptions = new ArrayList<>();

    /** The exception that was told last. */
    private ObjectReference last;

    /** How often the whole program is suspended; 0: it runs. It begins suspended, or not. */
    private int suspensions;

    Stops(
            VirtualMachine vm,
            Wire wire,
            Breakpoints breakpoints,
            Evaluation evaluation,
            ExecutorService worker,
            boolean suspended,
            Runnable over) {
        this.vm = vm;
        this.wire = wire;
        this.breakpoints = breakpoints;
        this.evaluation = evaluation;
        this.worker = worker;
        this.over = over;
        suspensions = suspended ? 1 : 0;
        Thread listener = new Thread(this::listen);
        listener.setDaemon(true);
        listener.start();
    }

    // -- what the client wants

    boolean stopped() {
        return suspensions > 0;
    }

    void resume() {
        thrown.clear();
        for (; suspensions > 0; suspensions--) {
            vm.resume();
        }
    }

    void pause(ThreadReference thread) {
        vm.suspend();
        suspensions++;
        stopped("pause", thread, null, null);
    }

    void step(ThreadReference thread, int depth) {
        forgetSteps();
        StepRequest request =
                vm.eventRequestManager().createStepRequest(thread, StepRequest.STEP_LINE, depth);
        for (String each : LIBRARIES) {
            request.addClassExclusionFilter(each);
        }
        request.addCountFilter(1);
        request.setSuspendPolicy(EventRequest.SUSPEND_ALL);
        request.enable();
        resume();
    }

    /** Stop at exceptions by filter; the value is a list of class names, empty for all. */
    void exceptions(Map<String, String> filters) {
        vm.eventRequestManager().deleteEventRequests(exceptions);
        exceptions.clear();
        filters.forEach(
                (filter, names) -> {
                    boolean caught = filter.equals("caught");
                    ExceptionRequest request =
                            vm.eventRequestManager().createExceptionRequest(null, caught, !caught);
                    request.putProperty("names", names);
                    request.setSuspendPolicy(EventRequest.SUSPEND_ALL);
                    if (caught) {
                        // Where classes are looked for, exceptions are a matter of course.
                        request.addClassExclusionFilter("jdk.*");
                        request.addClassExclusionFilter("sun.*");
                    }
                    request.enable();
                    exceptions.add(request);
                });
    }

    /** Return the exception that a thread has stopped at, or null. */
    ExceptionEvent thrown(ThreadReference thread) {
        return thrown.get(thread.uniqueID());
    }

    /** Return what an exception says; only those of Java's own are asked, who say what was null. */
    String message(ObjectReference exception, ThreadReference thread) {
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

    // -- what happens

    private void listen() {
        try {
            while (true) {
                EventSet set = vm.eventQueue().remove();
                Event first = set.iterator().next();
                if (first instanceof VMDeathEvent || first instanceof VMDisconnectEvent) {
                    if (first instanceof VMDeathEvent) {
                        set.resume();
                    }
                    break;
                }
                take(set);
            }
        } catch (VMDisconnectedException | InterruptedException gone) {
            // The same end, told in another way.
        }
        over.run();
    }

    private void take(EventSet set) {
        boolean stops = false;
        boolean starts = false;
        ThreadReference busy = evaluation.busy;
        for (Event event : set) {
            if (event instanceof ClassPrepareEvent) {
                breakpoints.prepared(((ClassPrepareEvent) event).referenceType());
            } else if (event instanceof VMStartEvent) {
                starts = true;
            } else if (event instanceof LocatableEvent) {
                stops |= !((LocatableEvent) event).thread().equals(busy);
            }
        }
        if (!stops) {
            if (!starts) {
                set.resume();
            }
        } else if (busy == null) {
            worker.execute(() -> decide(set));
        } else {
            // Another thread has stopped all while this one runs a method for us, to its end.
            busy.resume();
            worker.execute(
                    () -> {
                        busy.suspend();
                        decide(set);
                    });
        }
    }

    private void decide(EventSet set) {
        try {
            // More than one may have happened at the same place: any of them is reason enough.
            for (Event event : set) {
                if (event instanceof LocatableEvent && isStop((LocatableEvent) event)) {
                    suspensions++;
                    forgetSteps();
                    tell((LocatableEvent) event);
                    return;
                }
            }
            set.resume();
        } catch (VMDisconnectedException gone) {
            // The listener tells.
        }
    }

    private boolean isStop(LocatableEvent event) {
        if (event instanceof StepEvent) {
            return true;
        }
        if (event instanceof ExceptionEvent) {
            ExceptionEvent thrown = (ExceptionEvent) event;
            String names = Json.text(event.request().getProperty("names"));
            if (!names.isBlank() && !isNamed(thrown.exception(), names)) {
                return false;
            }
            // Who catches an exception may throw it on: it is told where it was thrown first.
            boolean again = thrown.catchLocation() != null && thrown.exception().equals(last);
            last = thrown.exception();
            return !again;
        }
        Object wish = event.request().getProperty(Breakpoints.WANTED);
        return wish != null && isWanted((Breakpoints.Wanted) wish, event.thread());
    }

    private boolean isWanted(Breakpoints.Wanted wanted, ThreadReference thread) {
        if (!wanted.condition.isBlank()) {
            try {
                Value value = evaluation.of(wanted.condition, evaluation.frame(thread));
                if ("false".equals(String.valueOf(value))) {
                    return false;
                }
            } catch (Exception wrong) {
                console("Condition `" + wanted.condition + "` failed: " + why(wrong) + "\n");
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

    private String logged(String expression, ThreadReference thread) {
        try {
            Value value = evaluation.of(expression, evaluation.frame(thread));
            return value instanceof StringReference
                    ? ((StringReference) value).value()
                    : new Values(evaluation).text(value, thread);
        } catch (Exception wrong) {
            return "{" + expression + ": " + why(wrong) + "}";
        }
    }

    private boolean counts(String condition, int hits) {
        Matcher found = HITS.matcher(condition);
        if (!found.matches()) {
            console("Hit condition `" + condition + "` failed: it is not like 3, >= 3 or % 3\n");
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

    private static boolean isNamed(ObjectReference exception, String names) {
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

    private void tell(LocatableEvent event) {
        ThreadReference thread = event.thread();
        if (event instanceof StepEvent) {
            stopped("step", thread, null, null);
        } else if (event instanceof ExceptionEvent) {
            ExceptionEvent exception = (ExceptionEvent) event;
            thrown.put(thread.uniqueID(), exception);
            String type = exception.exception().referenceType().name();
            String message = message(exception.exception(), thread);
            stopped("exception", thread, message == null ? type : type + ": " + message, null);
        } else {
            Breakpoints.Wanted wanted =
                    (Breakpoints.Wanted) event.request().getProperty(Breakpoints.WANTED);
            String reason = wanted.id == 0 ? "entry" : "breakpoint";
            if (wanted.id == 0) {
                vm.eventRequestManager().deleteEventRequests(wanted.bound);
            }
            boolean function = wanted.id != 0 && wanted.file == null;
            stopped(function ? "function breakpoint" : reason, thread, null, List.of(wanted.id));
        }
    }

    private void stopped(String reason, ThreadReference thread, String text, List<Integer> ids) {
        wire.event(
                "stopped",
                "reason", reason,
                "threadId", thread.uniqueID(),
                "allThreadsStopped", true,
                "description", text,
                "hitBreakpointIds", ids);
    }

    private void forgetSteps() {
        vm.eventRequestManager()
                .deleteEventRequests(new ArrayList<>(vm.eventRequestManager().stepRequests()));
    }

    private void console(String text) {
        wire.event("output", "category", "console", "output", text);
    }

    /** Return why something failed, in one line. */
    static String why(Throwable error) {
        String message = error.getMessage();
        return (message == null ? error.toString() : message).split("\n")[0];
    }
}
