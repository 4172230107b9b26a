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

/** What the client wants to stop at, and where in the classes that are loaded that is. */
final class Breakpoints {
    static final String WANTED = "wanted";
    private static final List<String> LIBRARIES =
            List.of("java.*", "javax.*", "jdk.*", "sun.*", "com.sun.*");

    /** One breakpoint of the client's: at a line of a file, or at the beginning of a method. */
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
            String what = file == null ? "a method of that name" : "code there";
            return Json.of(
                    "id", id,
                    "verified", !bound.isEmpty(),
                    "line", file == null && bound.isEmpty() ? null : actual,
                    "source", file == null ? null : Json.of("path", file.toString()),
                    "reason", bound.isEmpty() ? "pending" : null,
                    "message", bound.isEmpty() ? "No class loaded so far has " + what : null);
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

    /** The files that have breakpoints. */
    synchronized Set<Path> files() {
        return new HashSet<>(packages.keySet());
    }

    /** Make these the breakpoints of a file, and return what became of each. */
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

    /** Make these the breakpoints at methods, and return what became of each. */
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

    /** Stop once at the beginning of a class's `main`. */
    synchronized void setEntry(String main) {
        entry = new Wanted(0, null, Json.of("name", main + ".main"));
        ClassPrepareRequest watch = vm.eventRequestManager().createClassPrepareRequest();
        watch.addClassFilter(main);
        watch.setSuspendPolicy(EventRequest.SUSPEND_ALL);
        watch.enable();
    }

    /** Bind what a class that was just loaded has the code of. */
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

    /** Whether a class is compiled from a file: the file's name is its, and the package. */
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
                if (done.add(place.method())) {
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
            // Compiled without lines, or not yet loaded to its end: it comes again.
        }
    }

    private static List<Location> lines(Wanted wanted, ReferenceType type)
            throws AbsentInformationException {
        return type.locationsOfLine(wanted.line);
    }

    /** The beginnings of methods: `method`, `Class.method` or `package.Class.method`. */
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
