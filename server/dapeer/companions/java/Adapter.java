import com.sun.jdi.ThreadGroupReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.Value;
import com.sun.jdi.request.StepRequest;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A debug adapter for Java on stdin and stdout. It uses the Java Debug Interface of the JDK. */
final class Adapter {
    private final Wire wire;

    /** One thread answers requests and decides stops, one after another. */
    private final ExecutorService worker = Executors.newSingleThreadExecutor(Adapter::daemon);

    private final Path built;
    private volatile Debuggee debuggee;
    private Breakpoints breakpoints;
    private Evaluation evaluation;
    private Values values;
    private Frames frames;
    private Exceptions exceptions;
    private Stops stops;
    private boolean stopOnEntry;
    private volatile boolean leaving;
    private boolean ended;

    private Adapter(Wire wire, Path built) {
        this.wire = wire;
        this.built = built;
    }

    public static void main(String[] arguments) throws Exception {
        Wire wire = new Wire(System.in, new FileOutputStream(FileDescriptor.out));
        // Text that a library prints must not mix with the messages.
        System.setOut(System.err);
        Adapter adapter = new Adapter(wire, Path.of(arguments[0]));
        // After the end of the input, and after each signal but SIGKILL.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> adapter.end(adapter.launched())));
        adapter.run();
        System.exit(0);
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    private void run() throws IOException {
        for (Map<String, Object> each = wire.request(); each != null; each = wire.request()) {
            Map<String, Object> request = each;
            String command = Json.text(request.get("command"));
            // Ending must not wait for an evaluation that hangs.
            if (command.equals("disconnect") || command.equals("terminate")) {
                answer(request, command);
            } else {
                worker.execute(() -> answer(request, command));
            }
            if (command.equals("disconnect")) {
                return;
            }
        }
    }

    private void answer(Map<String, Object> request, String command) {
        try {
            Map<String, Object> body = answer(command, Json.table(request.get("arguments")));
            wire.respond(request, body);
            after(command);
        } catch (VMDisconnectedException gone) {
            wire.refuse(request, "The program has ended.");
        } catch (Throwable wrong) {
            wire.refuse(request, wrong instanceof NullPointerException
                    ? "No program is being debugged."
                    : Wire.why(wrong));
        }
    }

    /** Do what DAP wants after the response. */
    private void after(String command) {
        if (command.equals("launch") || command.equals("attach")) {
            wire.event("initialized");
        }
        if (command.equals("configurationDone") && debuggee.launched()) {
            stops.resume();
        }
    }

    private Map<String, Object> answer(String command, Map<String, Object> wish) throws Exception {
        switch (command) {
            case "initialize":
                return Capabilities.told();
            case "launch":
                stopOnEntry = Boolean.TRUE.equals(wish.get("stopOnEntry"));
                Program program = new Program(wish, built);
                begin(Debuggee.launch(program, wish, wire), program.sources);
                if (stopOnEntry) {
                    breakpoints.setEntry(program.main);
                }
                return Map.of();
            case "attach":
                Program near = Program.near(wish);
                String host = Json.text(wish.getOrDefault("host", "127.0.0.1"));
                begin(Debuggee.attach(host, Json.number(wish.get("port"))), near.sources);
                return Map.of();
            case "setBreakpoints":
                Path file = Path.of(Json.text(Json.table(wish.get("source")).get("path")));
                return Json.of("breakpoints", breakpoints.set(file, Json.list(wish.get("breakpoints"))));
            case "setFunctionBreakpoints":
                return Json.of("breakpoints", breakpoints.setFunctions(Json.list(wish.get("breakpoints"))));
            case "setExceptionBreakpoints":
                stops.setFilters(filters(wish));
                return Map.of();
            case "configurationDone":
                return Map.of();
            case "threads":
                return Json.of("threads", threads());
            case "stackTrace":
                return stack(wish);
            case "scopes":
                int locals = values.ofFrame(frames.get(Json.number(wish.get("frameId"))));
                return Json.of(
                        "scopes",
                        List.of(
                                Json.of(
                                        "name", "Locals",
                                        "presentationHint", "locals",
                                        "variablesReference", locals,
                                        "expensive", false)));
            case "variables":
                return Json.of(
                        "variables",
                        values.in(
                                Json.number(wish.get("variablesReference")),
                                Json.number(wish.get("start")),
                                Json.number(wish.get("count"))));
            case "setVariable":
                return values.set(
                        Json.number(wish.get("variablesReference")),
                        Json.text(wish.get("name")),
                        Json.text(wish.get("value")));
            case "evaluate":
                return evaluate(wish);
            case "exceptionInfo":
                return exceptions.info(thread(wish));
            case "continue":
                runOn();
                stops.resume();
                return Json.of("allThreadsContinued", true);
            case "next":
                return step(wish, StepRequest.STEP_OVER);
            case "stepIn":
                return step(wish, StepRequest.STEP_INTO);
            case "stepOut":
                return step(wish, StepRequest.STEP_OUT);
            case "pause":
                stops.pause(thread(wish));
                return Map.of();
            case "terminate":
                debuggee.askToEnd();
                return Map.of();
            case "disconnect":
                Object wanted = wish.get("terminateDebuggee");
                end(wanted == null ? launched() : Boolean.TRUE.equals(wanted));
                return Map.of();
            default:
                throw new IllegalArgumentException("This adapter does not support the request `" + command + "`.");
        }
    }

    private void begin(Debuggee program, Set<Path> sources) {
        debuggee = program;
        breakpoints = new Breakpoints(program.vm, wire);
        evaluation = new Evaluation(program.vm);
        values = new Values(evaluation);
        frames = new Frames(sources, breakpoints);
        exceptions = new Exceptions(evaluation);
        stops =
                new Stops(
                        program.vm, wire, breakpoints, evaluation, exceptions, worker,
                        program.launched(), this::over);
    }

    private void over() {
        Integer code = debuggee.ended();
        if (code != null) {
            wire.event("exited", "exitCode", code);
        }
        if (!leaving) {
            wire.event("terminated");
        }
    }

    private boolean launched() {
        return debuggee != null && debuggee.launched();
    }

    /** Kill the program, or leave it without breakpoints, all threads running. Only the first call does something. */
    private synchronized void end(boolean kill) {
        leaving = true;
        if (debuggee == null || ended) {
            return;
        }
        ended = true;
        try {
            if (kill) {
                debuggee.kill();
            } else {
                // Removes the breakpoints and resumes the program.
                debuggee.vm.dispose();
            }
        } catch (VMDisconnectedException gone) {
            // The program has ended.
        }
    }

    private static Map<String, String> filters(Map<String, Object> wish) {
        Map<String, String> filters = new LinkedHashMap<>();
        Json.list(wish.get("filters")).forEach(each -> filters.put(Json.text(each), ""));
        for (Object each : Json.list(wish.get("filterOptions"))) {
            Map<String, Object> option = Json.table(each);
            filters.put(Json.text(option.get("filterId")), Json.text(option.get("condition")));
        }
        return filters;
    }

    private List<Object> threads() {
        List<Object> told = new ArrayList<>();
        for (ThreadReference each : debuggee.vm.allThreads()) {
            ThreadGroupReference group = each.threadGroup();
            String of = group == null ? "" : group.name();
            // Threads of the VM itself are left out.
            if (!of.equals("system") && !of.equals("InnocuousThreadGroup")) {
                told.add(Json.of("id", each.uniqueID(), "name", each.name()));
            }
        }
        return told;
    }

    private ThreadReference thread(Map<String, Object> wish) {
        Object id = wish.get("threadId");
        ThreadReference found = null;
        for (ThreadReference each : debuggee.vm.allThreads()) {
            if (found == null && each.name().equals("main") || Long.valueOf(each.uniqueID()).equals(id)) {
                found = each;
            }
        }
        return found != null ? found : debuggee.vm.allThreads().get(0);
    }

    private Map<String, Object> stack(Map<String, Object> wish) throws Exception {
        ThreadReference thread = thread(wish);
        if (!thread.isSuspended()) {
            throw new IllegalStateException("The thread is running.");
        }
        List<Object> told =
                frames.stack(
                        thread, Json.number(wish.get("startFrame")), Json.number(wish.get("levels")));
        return Json.of("stackFrames", told, "totalFrames", thread.frameCount());
    }

    private Map<String, Object> evaluate(Map<String, Object> wish) throws Exception {
        Frames.Frame frame =
                wish.containsKey("frameId")
                        ? frames.get(Json.number(wish.get("frameId")))
                        : evaluation.frame(thread(wish));
        Value value = evaluation.of(Json.text(wish.get("expression")), frame);
        String type = value == null ? "null" : value.type().name();
        Map<String, Object> told = values.variable("", type, value, frame.thread);
        told.put("result", told.remove("value"));
        return told;
    }

    private Map<String, Object> step(Map<String, Object> wish, int depth) {
        runOn();
        stops.step(thread(wish), depth);
        return Map.of();
    }

    private void runOn() {
        if (!stops.stopped()) {
            throw new IllegalStateException("The program is running.");
        }
        values.clear();
        frames.clear();
    }
}
