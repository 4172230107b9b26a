import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Stack frames by DAP's frame id, and the files of their sources. */
final class Frames {
    /** A position in a thread's stack. JDI's own frame objects are invalid after each method call. */
    static final class Frame {
        final ThreadReference thread;
        final int depth;

        Frame(ThreadReference thread, int depth) {
            this.thread = thread;
            this.depth = depth;
        }

        StackFrame get() throws IncompatibleThreadStateException {
            return thread.frame(depth);
        }
    }

    private final Map<Integer, Frame> frames = new HashMap<>();
    private final Map<String, String> paths = new HashMap<>();
    private final Set<Path> sources;
    private final Breakpoints breakpoints;
    private int numbers;

    Frames(Set<Path> sources, Breakpoints breakpoints) {
        this.sources = sources;
        this.breakpoints = breakpoints;
    }

    /** Forget all frame ids: the program resumes. */
    void clear() {
        frames.clear();
        numbers = 0;
    }

    Frame get(int number) {
        Frame frame = frames.get(number);
        if (frame == null) {
            throw new IllegalArgumentException("The program has resumed since then, so this frame is stale.");
        }
        return frame;
    }

    /** Return `levels` frames of a thread's stack; 0: all of them. */
    List<Object> stack(ThreadReference thread, int start, int levels)
            throws IncompatibleThreadStateException {
        List<Object> told = new ArrayList<>();
        int count = thread.frameCount();
        int last = levels > 0 ? Math.min(count, start + levels) : count;
        for (int depth = start; depth < last; depth++) {
            Location place = thread.frame(depth).location();
            frames.put(++numbers, new Frame(thread, depth));
            String type = place.declaringType().name();
            Map<String, Object> source = source(place);
            boolean found = source != null && source.containsKey("path");
            told.add(
                    Json.of(
                            "id", numbers,
                            "name", name(type) + "." + place.method().name(),
                            "line", Math.max(place.lineNumber(), 0),
                            "column", 0,
                            "presentationHint", found ? null : "subtle",
                            "source", source));
        }
        return told;
    }

    /** Return the name of a class as in its source; a lambda's is its class and `lambda`. */
    static String name(String type) {
        return type.replaceFirst("\\$\\$Lambda.*", ".lambda").replace('$', '.');
    }

    /** Return the source of a location; without a path if its file is not found. */
    private Map<String, Object> source(Location place) {
        try {
            String relative = place.sourcePath().replace('\\', '/');
            String path = paths.computeIfAbsent(relative, this::find);
            if (path.isEmpty()) {
                return Json.of("name", relative, "presentationHint", "deemphasize");
            }
            return Json.of("name", place.sourceName(), "path", path);
        } catch (AbsentInformationException none) {
            return null;
        }
    }

    private String find(String relative) {
        for (Path file : breakpoints.files()) {
            String own = Program.packageOf(file).replace('.', '/') + file.getFileName();
            if (own.equals(relative)) {
                return file.toString();
            }
        }
        for (Path folder : sources) {
            if (Files.isRegularFile(folder.resolve(relative))) {
                return folder.resolve(relative).normalize().toString();
            }
        }
        return "";
    }
}
