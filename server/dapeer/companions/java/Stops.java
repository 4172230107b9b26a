import com.sun.jdi.ObjectReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
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
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;

/** Takes the events of the program's Java VM, and decides which of them stop the program. */
final class Stops {
    private static final String[] LIBRARIES = {"java.*", "javax.*", "jdk.*", "sun.*", "com.sun.*"};

    private final VirtualMachine vm;
    private final Wire wire;
    private final Breakpoints breakpoints;
    private final Evaluation evaluation;
    private final ExecutorService worker;
    private final Runnable over;
    private final Exceptions exceptions;
    private final Conditions conditions;
    private final List<ExceptionRequest> filters = new ArrayList<>();

    /** The exception that was reported last. */
    private ObjectReference last;

    /** The VM's suspend count, as far as this adapter has raised it; 0: the program runs. */
    private int suspensions;

    Stops(
            VirtualMachine vm,
            Wire wire,
            Breakpoints breakpoints,
            Evaluation evaluation,
            Exceptions exceptions,
            ExecutorService worker,
            boolean suspended,
            Runnable over) {
        this.vm = vm;
        this.wire = wire;
        this.breakpoints = breakpoints;
        this.evaluation = evaluation;
        this.exceptions = exceptions;
        conditions = new Conditions(evaluation, wire);
        this.worker = worker;
        this.over = over;
        suspensions = suspended ? 1 : 0;
        Thread listener = new Thread(this::listen);
        listener.setDaemon(true);
        listener.start();
    }

    // -- requests of the client

    boolean stopped() {
        return suspensions > 0;
    }

    void resume() {
        exceptions.clear();
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
    void setFilters(Map<String, String> wanted) {
        vm.eventRequestManager().deleteEventRequests(filters);
        filters.clear();
        wanted.forEach(
                (filter, names) -> {
                    boolean caught = filter.equals("caught");
                    ExceptionRequest request =
                            vm.eventRequestManager().createExceptionRequest(null, caught, !caught);
                    request.putProperty("names", names);
                    request.setSuspendPolicy(EventRequest.SUSPEND_ALL);
                    if (caught) {
                        // Class loaders throw and catch exceptions all the time.
                        request.addClassExclusionFilter("jdk.*");
                        request.addClassExclusionFilter("sun.*");
                    }
                    request.enable();
                    filters.add(request);
                });
    }

    // -- events of the program

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
            // The VM has ended without an event.
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
            // Another thread's event has suspended all threads, while `busy` runs a method for an
            // evaluation. Let that method finish first.
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
            // Several events may happen at one place: the first that stops is reported.
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
            // The listener reports the end.
        }
    }

    private boolean isStop(LocatableEvent event) {
        if (event instanceof StepEvent) {
            return true;
        }
        if (event instanceof ExceptionEvent) {
            ExceptionEvent thrown = (ExceptionEvent) event;
            String names = Json.text(event.request().getProperty("names"));
            if (!names.isBlank() && !Conditions.isNamed(thrown.exception(), names)) {
                return false;
            }
            // An exception may be caught and thrown again: only its first throw is reported.
            boolean again = thrown.catchLocation() != null && thrown.exception().equals(last);
            last = thrown.exception();
            return !again;
        }
        Object wish = event.request().getProperty(Breakpoints.WANTED);
        return wish != null && conditions.isWanted((Breakpoints.Wanted) wish, event.thread());
    }

    private void tell(LocatableEvent event) {
        ThreadReference thread = event.thread();
        if (event instanceof StepEvent) {
            stopped("step", thread, null, null);
        } else if (event instanceof ExceptionEvent) {
            stopped("exception", thread, exceptions.keep((ExceptionEvent) event), null);
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
}
