import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.ClassNotPreparedException;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The client's breakpoints, and their locations in the loaded classes. */
final class Breakpoints {
    static final String WANTED = "wanted";
    private static final List<String> LIBRARIES =
            List.of("java.*", "javax.*", "jdk.*", "sun.*", "com.sun.*");

    /** One breakpoint of the client: at a line of a file, or at the entry of a method. */
    static final class Wanted {
        final int id;
        final Path file;
        final int line;
        final String function;
        final String condition;
        final String hitCondition;
        final String logMessage;
        final List<BreakpointRequest> bound = new ArrayList<>();
        int actual;
        int hits;

        Wanted(int id, Path file, Map<String, Object> wish) {
            this.id = id;
            this.file = file;
            line = actual = Json.number(wish.get("line"));
            function = Json.text(wish.get("name"));
            condition = Json.text(wish.get("condition"));
            hitCondition = Json.text(wish.get("hitCondition"));
            logMessage = Json.text(wish.get("logMessage"));
        }

        Map<String, Object> told() {
            String what = file == null ? "a method of this name" : "code at this line";
            return Json.of(
                    "id", id,
                    "verified", !bound.isEmpty(),
                    "line", file == null && bound.isEmpty() ? null : actual,
                    "source", file == null ? null : Json.of("path", file.toString()),
                    "reason", bound.isEmpty() ? "pending" : null,
                    "message", bound.isEmpty() ? "No loaded class has " + what + " yet" : null);
        }
    }

    private final VirtualMachine vm;
    private final Wire wire;
    private final Map<Path, List<Wanted>> lines = new HashMap<>();
    private final Map<Path, String> packages = new HashMap<>();
    private final Map<Path, ClassPrepareRequest> watches = new HashMap<>();
    private final List<ClassPrepareRequest> functionWatches = new ArrayList<>();
    private List<Wanted> functions = List.of();
    private Wanted entry;
    private int ids;

    Breakpoints(VirtualMachine vm, Wire wire) {
        this.vm = vm;
        this.wire = wire;
    }

    /** Return the files that have breakpoints. */
    synchronized Set<Path> files() {
        return new HashSet<>(packages.keySet());
    }

    /** Replace the breakpoints of a file, and return the state of each. */
    synchronized List<Object> set(Path file, List<Object> wishes) {
        clear(lines.getOrDefault(file, List.of()));
        packages.put(file, Program.packageOf(file));
        List<Wanted> wanted = new ArrayList<>();
        wishes.forEach(wish -> wanted.add(new Wanted(++ids, file, Json.table(wish))));
        lines.put(file, wanted);
        if (!watches.containsKey(file)) {
            ClassPrepareRequest watch = vm.eventRequestManager().createClassPrepareRequest();
            watch.addSourceNameFilter(file.getFileName().toString());
            watch.setSuspendPolicy(EventRequest.SUSPEND_ALL);
            watch.enable();
            watches.put(file, watch);
        }
        for (ReferenceType type : vm.allClasses()) {
            if (isOf(type, file)) {
                wanted.forEach(each -> bind(each, type));
            }
        }
        return told(wanted);
    }

    /** Replace the function breakpoints, and return the state of each. */
    synchronized List<Object> setFunctions(List<Object> wishes) {
        clear(functions);
        vm.eventRequestManager().deleteEventRequests(functionWatches);
        functionWatches.clear();
        List<Wanted> wanted = new ArrayList<>();
        wishes.forEach(wish -> wanted.add(new Wanted(++ids, null, Json.table(wish))));
        functions = wanted;
        if (!wanted.isEmpty()) {
            ClassPrepareRequest watch = vm.eventRequestManager().createClassPrepareRequest();
            LIBRARIES.forEach(watch::addClassExclusionFilter);
            watch.setSuspendPolicy(EventRequest.SUSPEND_ALL);
            watch.enable();
            functionWatches.add(watch);
        }
        for (ReferenceType type : vm.allClasses()) {
            wanted.forEach(each -> bind(each, type));
        }
        return told(wanted);
    }

    /** Stop once at the entry of a class's `main`. */
    synchronized void setEntry(String main) {
        entry = new Wanted(0, null, Json.of("name", main + ".main"));
        ClassPrepareRequest watch = vm.eventRequestManager().createClassPrepareRequest();
        watch.addClassFilter(main);
        watch.setSuspendPolicy(EventRequest.SUSPEND_ALL);
        watch.enable();
    }

    /** Bind the breakpoints whose code is in a class that was just loaded. */
    synchronized void prepared(ReferenceType type) {
        Set<Wanted> possible = new HashSet<>(functions);
        if (entry != null) {
            bind(entry, type);
        }
        lines.forEach(
                (file, wanted) -> {
                    if (isOf(type, file)) {
                        possible.addAll(wanted);
                    }
                });
        for (Wanted each : possible) {
            boolean before = !each.bound.isEmpty();
            bind(each, type);
            if (!before && !each.bound.isEmpty()) {
                wire.event("breakpoint", "reason", "changed", "breakpoint", each.told());
            }
        }
    }

    /** Whether a class was compiled from a file: file name and package agree. */
    private boolean isOf(ReferenceType type, Path file) {
        String name = packages.getOrDefault(file, "");
        if (!type.name().startsWith(name) || type.name().indexOf('.', name.length()) >= 0) {
            return false;
        }
        try {
            return type.sourceName().equals(file.getFileName().toString());
        } catch (AbsentInformationException | ClassNotPreparedException none) {
            return false;
        }
    }

    private void bind(Wanted wanted, ReferenceType type) {
        try {
            Set<Method> done = new HashSet<>();
            for (Location place : wanted.file == null ? entries(wanted, type) : lines(wanted, type)) {
                if (!isBound(wanted, place) && done.add(place.method())) {
                    BreakpointRequest request =
                            vm.eventRequestManager().createBreakpointRequest(place);
                    request.putProperty(WANTED, wanted);
                    request.setSuspendPolicy(EventRequest.SUSPEND_ALL);
                    request.enable();
                    wanted.bound.add(request);
                    wanted.actual = place.lineNumber();
                }
            }
        } catch (AbsentInformationException | ClassNotPreparedException none) {
            // Compiled without line numbers, or not yet prepared: then an event follows.
        }
    }

    /** A class is prepared once for each watch that it fits. */
    private static boolean isBound(Wanted wanted, Location place) {
        return wanted.bound.stream().anyMatch(each -> each.location().equals(place));
    }

    private static List<Location> lines(Wanted wanted, ReferenceType type)
            throws AbsentInformationException {
        return type.locationsOfLine(wanted.line);
    }

    /** Return the entries of methods: `method`, `Class.method` or `package.Class.method`. */
    private static List<Location> entries(Wanted wanted, ReferenceType type) {
        int dot = wanted.function.lastIndexOf('.');
        String owner = wanted.function.substring(0, Math.max(dot, 0));
        String name = "." + type.name().replace('$', '.');
        if (dot < 0 ? name.matches("\\.(javax?|jdk|sun|com\\.sun)\\..*") : !name.endsWith("." + owner)) {
            return List.of();
        }
        List<Location> found = new ArrayList<>();
        for (Method method : type.methodsByName(wanted.function.substring(dot + 1))) {
            if (!method.isAbstract() && !method.isNative() && !method.isBridge()) {
                found.add(method.location());
            }
        }
        return found;
    }

    private void clear(List<Wanted> old) {
        for (Wanted each : old) {
            vm.eventRequestManager().deleteEventRequests(each.bound);
        }
    }

    private static List<Object> told(List<Wanted> wanted) {
        List<Object> told = new ArrayList<>();
        wanted.forEach(each -> told.add(each.told()));
        return told;
    }
}
