import com.sun.jdi.Bootstrap;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.ListeningConnector;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The Java VM of the program: started here, by the client in a terminal, or attached to. */
final class Debuggee {
    private static final String START_MILLISECONDS = "25000";

    final VirtualMachine vm;

    /** Empty: it was attached to. */
    private final Optional<ProcessHandle> handle;

    /** Has its exit code and output. Empty: it runs in a terminal, or was attached to. */
    private final Optional<Process> process;

    private final List<Thread> readers = new ArrayList<>();

    private Debuggee(VirtualMachine vm, ProcessHandle handle, Process process) {
        this.vm = vm;
        this.handle = Optional.ofNullable(handle);
        this.process = Optional.ofNullable(process);
    }

    static Debuggee attach(String host, int port) throws Exception {
        AttachingConnector connector = null;
        for (AttachingConnector each : Bootstrap.virtualMachineManager().attachingConnectors()) {
            connector = each.name().equals("com.sun.jdi.SocketAttach") ? each : connector;
        }
        Map<String, Connector.Argument> where = connector.defaultArguments();
        where.get("hostname").setValue(host);
        where.get("port").setValue(String.valueOf(port));
        return new Debuggee(connector.attach(where), null, null);
    }

    /** Start a program, which connects to this adapter and waits before its first instruction. */
    static Debuggee launch(Program program, Map<String, Object> wish, Wire wire) throws Exception {
        ListeningConnector connector = null;
        for (ListeningConnector each : Bootstrap.virtualMachineManager().listeningConnectors()) {
            connector = each.name().equals("com.sun.jdi.SocketListen") ? each : connector;
        }
        Map<String, Connector.Argument> where = connector.defaultArguments();
        where.get("localAddress").setValue("127.0.0.1");
        where.get("port").setValue("0");
        where.get("timeout").setValue(START_MILLISECONDS);
        String address = connector.startListening(where);
        ListeningConnector listening = connector;
        List<String> command = command(program, wish, address.substring(address.lastIndexOf(':')));
        Process process = null;
        ProcessHandle handle;
        if ("integratedTerminal".equals(wish.get("console"))) {
            handle = inTerminal(command, wish, wire);
        } else {
            process = start(command, wish);
            handle = process.toHandle();
        }
        handle.onExit().thenRun(() -> stop(listening, where));
        VirtualMachine vm;
        try {
            vm = connector.accept(where);
        } catch (IOException died) {
            String said = process == null ? "" : said(process);
            throw new IOException("Java exited before the program started. " + said, died);
        } finally {
            stop(listening, where);
        }
        Debuggee debuggee = new Debuggee(vm, handle, process);
        if (process != null) {
            debuggee.read(process.getInputStream(), "stdout", wire);
            debuggee.read(process.getErrorStream(), "stderr", wire);
        }
        wire.event(
                "process",
                "name", program.command.get(program.command.size() - 1),
                "systemProcessId", handle.pid(),
                "isLocalProcess", true,
                "startMethod", "launch");
        return debuggee;
    }

    boolean launched() {
        return handle.isPresent();
    }

    /** Wait for the end of the program and its output; return the exit code, or null if unknown. */
    Integer ended() {
        try {
            for (Thread reader : readers) {
                reader.join(TimeUnit.SECONDS.toMillis(2));
            }
            if (process.isPresent() && process.get().waitFor(2, TimeUnit.SECONDS)) {
                return process.get().exitValue();
            }
        } catch (InterruptedException ending) {
            Thread.currentThread().interrupt();
        }
        return null;
    }

    void kill() {
        handle.ifPresent(ProcessHandle::destroyForcibly);
        if (handle.isEmpty()) {
            vm.exit(1);
        }
    }

    void askToEnd() {
        if (!handle.map(ProcessHandle::destroy).orElse(false)) {
            vm.exit(143);
        }
    }

    private static List<String> command(Program program, Map<String, Object> wish, String port) {
        List<String> command = new ArrayList<>();
        command.add(java(wish));
        command.add("-agentlib:jdwp=transport=dt_socket,server=n,suspend=y,address=127.0.0.1" + port);
        Object options = wish.get("vmArgs");
        if (options instanceof String) {
            options = List.of((Object[]) options.toString().trim().split("\\s+"));
        }
        Json.list(options).forEach(each -> command.add(Json.text(each)));
        command.addAll(program.command);
        Json.list(wish.get("args")).forEach(each -> command.add(Json.text(each)));
        return command;
    }

    /** Return the Java to run: `javaExec`, else that of `$JAVA_HOME`, else the adapter's own. */
    private static String java(Map<String, Object> wish) {
        Object home = Json.table(wish.get("env")).getOrDefault("JAVA_HOME", System.getenv("JAVA_HOME"));
        for (String folder : List.of(Json.text(home), System.getProperty("java.home"))) {
            Path java = Path.of(folder, "bin", "java");
            if (!wish.containsKey("javaExec") && !folder.isEmpty() && Files.isExecutable(java)) {
                return java.toString();
            }
        }
        return Json.text(wish.getOrDefault("javaExec", "java"));
    }

    private static Process start(List<String> command, Map<String, Object> wish)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.directory(Path.of(Json.text(wish.getOrDefault("cwd", "."))).toFile());
        Json.table(wish.get("env"))
                .forEach((name, value) -> builder.environment().put(name, Json.text(value)));
        Process process = builder.start();
        process.getOutputStream().close();
        return process;
    }

    private static ProcessHandle inTerminal(
            List<String> command, Map<String, Object> wish, Wire wire) throws Exception {
        Map<String, Object> answer =
                wire.ask(
                                "runInTerminal",
                                "kind", "integrated",
                                "title", "Java",
                                "cwd", Json.text(wish.get("cwd")),
                                "args", command,
                                "env", wish.get("env"))
                        .get(30, TimeUnit.SECONDS);
        int pid = Json.number(Json.table(answer.get("body")).get("processId"));
        return ProcessHandle.of(pid)
                .orElseThrow(() -> new IOException(Json.text(answer.get("message"))));
    }

    private void read(InputStream stream, String category, Wire wire) {
        Reader reader = new InputStreamReader(stream);
        Thread thread =
                new Thread(
                        () -> {
                            char[] buffer = new char[8192];
                            try {
                                for (int n = reader.read(buffer); n >= 0; n = reader.read(buffer)) {
                                    wire.event(
                                            "output",
                                            "category", category,
                                            "output", new String(buffer, 0, n));
                                }
                            } catch (IOException gone) {
                                // The program has ended.
                            }
                        });
        thread.setDaemon(true);
        thread.start();
        readers.add(thread);
    }

    private static String said(Process process) {
        try {
            return new String(process.getErrorStream().readAllBytes()).trim();
        } catch (IOException silent) {
            return "";
        }
    }

    private static void stop(ListeningConnector connector, Map<String, Connector.Argument> where) {
        try {
            connector.stopListening(where);
        } catch (Exception stopped) {
            // It has stopped already.
        }
    }
}
