import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/** The program to run: a source file, a class file, a jar, or the name of a class. */
final class Program {
    /** Folders in which build tools put classes, relative to the project's folder. */
    private static final List<String> OUTPUTS =
            List.of(
                    "target/classes", "target/test-classes", "build/classes/java/main",
                    "build/classes/java/test", "build/classes", "out/production", "out", "bin", "classes");

    /** Folders in which projects keep sources. */
    private static final List<String> SOURCES =
            List.of("", "src/main/java", "src/test/java", "src", "source", "test");

    private static final Pattern PACKAGE = Pattern.compile("(?m)^\\s*package\\s+([\\w.]+)\\s*;");

    /** Arguments of `java` after its options: `-cp`, a class path and a class, or `-jar` and a file. */
    final List<String> command = new ArrayList<>();

    /** The class whose `main` is run. */
    String main = "";

    /** Folders in which the sources of classes are searched. */
    final Set<Path> sources = new LinkedHashSet<>();

    private Program() {}

    /** Return a program that runs already; only its source folders are known. */
    static Program near(Map<String, Object> arguments) {
        Program program = new Program();
        program.sourcesNear(Path.of(Json.text(arguments.getOrDefault("cwd", "."))));
        return program;
    }

    Program(Map<String, Object> arguments, Path built) throws IOException {
        Path folder = Path.of(Json.text(arguments.getOrDefault("cwd", ".")));
        String program = Json.text(arguments.get("program"));
        Set<String> classpath = new LinkedHashSet<>();
        Object given = arguments.getOrDefault("classPaths", arguments.get("classpath"));
        Json.list(given).forEach(each -> classpath.add(Json.text(each)));
        if (given instanceof String) {
            classpath.addAll(Arrays.asList(((String) given).split(File.pathSeparator)));
        }
        for (Object each : Json.list(arguments.get("sourcePaths"))) {
            sources.add(folder.resolve(Json.text(each)));
        }
        main = Json.text(arguments.getOrDefault("mainClass", arguments.get("module")));
        if (program.endsWith(".jar")) {
            try (JarFile jar = new JarFile(program)) {
                main = Json.text(jar.getManifest().getMainAttributes().getValue("Main-Class"));
            }
            sourcesNear(Path.of(program).toAbsolutePath().getParent());
            sourcesNear(folder);
            command.addAll(List.of("-jar", program));
            return;
        }
        if (program.endsWith(".java")) {
            main = ofSource(Path.of(program), classpath, built);
        } else if (program.endsWith(".class")) {
            main = ofClass(Path.of(program), classpath);
        } else {
            outputs(folder).forEach(each -> classpath.add(each.toString()));
            classpath.add(folder.toString());
        }
        sourcesNear(folder);
        command.addAll(List.of("-cp", String.join(File.pathSeparator, classpath), main));
    }

    /** Return the package that a source file declares, with a dot at its end; empty for the default package. */
    static String packageOf(Path source) {
        try {
            Matcher found = PACKAGE.matcher(Files.readString(source));
            return found.find() ? found.group(1) + "." : "";
        } catch (IOException unreadable) {
            return "";
        }
    }

    /** Return the class of a source file; compile it where no compiled class is up to date. */
    private String ofSource(Path source, Set<String> classpath, Path built) throws IOException {
        String name = packageOf(source);
        String main = name + source.getFileName().toString().replace(".java", "");
        Path root = up(source.toAbsolutePath().getParent(), name);
        sources.add(root);
        String file = main.replace('.', '/') + ".class";
        List<Path> places = new ArrayList<>(List.of(root));
        for (Path above = root; above != null; above = above.getParent()) {
            places.addAll(outputs(above));
            if (Files.exists(above.resolve("pom.xml")) || Files.exists(above.resolve(".git"))) {
                break;
            }
        }
        long written = Files.getLastModifiedTime(source).toMillis();
        boolean fresh = false;
        for (Path place : places) {
            Path compiled = place.resolve(file);
            if (Files.isRegularFile(compiled)) {
                classpath.add(place.toString());
                fresh |= Files.getLastModifiedTime(compiled).toMillis() >= written;
            }
        }
        if (!fresh) {
            String known = String.join(File.pathSeparator, classpath);
            compile(source, root, known, built);
            List<String> others = List.copyOf(classpath);
            classpath.clear();
            classpath.add(built.toString());
            classpath.addAll(others);
        }
        return main;
    }

    private static void compile(Path source, Path root, String classpath, Path built)
            throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new IOException("There is no compiled class for " + source + ", and this Java has no compiler (javac).");
        }
        StringWriter said = new StringWriter();
        List<String> options =
                List.of(
                        "-g", "-nowarn", "-d", built.toString(), "-sourcepath", root.toString(),
                        "-classpath", classpath.isEmpty() ? root.toString() : classpath);
        boolean done =
                compiler.getTask(
                                said, null, null, options, null,
                                compiler.getStandardFileManager(null, null, null)
                                        .getJavaFileObjects(source.toFile()))
                        .call();
        if (!done) {
            throw new IOException("The program does not compile: " + said.toString().trim());
        }
    }

    private String ofClass(Path file, Set<String> classpath) throws IOException {
        String main = nameOf(file);
        int dot = main.lastIndexOf('.');
        Path root = up(file.toAbsolutePath().getParent(), dot < 0 ? "" : main.substring(0, dot + 1));
        classpath.add(root.toString());
        outputs(root.getParent() == null ? root : root.getParent())
                .forEach(each -> classpath.add(each.toString()));
        for (Path above = root; above != null; above = above.getParent()) {
            sourcesNear(above);
            if (Files.exists(above.resolve("pom.xml")) || Files.exists(above.resolve(".git"))) {
                break;
            }
        }
        return main;
    }

    /** Return the name of the class in a class file, from its constant pool. */
    private static String nameOf(Path file) throws IOException {
        try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
            in.readInt();
            in.readInt();
            int count = in.readUnsignedShort();
            Object[] constants = new Object[count];
            for (int i = 1; i < count; i++) {
                int tag = in.readUnsignedByte();
                if (tag == 1) {
                    constants[i] = in.readUTF();
                } else if (tag == 7) {
                    constants[i] = in.readUnsignedShort();
                } else if (tag == 5 || tag == 6) {
                    in.readLong();
                    i++;
                } else if (tag == 15) {
                    in.skipNBytes(3);
                } else {
                    in.skipNBytes(tag == 8 || tag == 16 || tag == 19 || tag == 20 ? 2 : 4);
                }
            }
            in.readUnsignedShort();
            int index = (Integer) constants[in.readUnsignedShort()];
            return ((String) constants[index]).replace('/', '.');
        }
    }

    private static Path up(Path folder, String name) {
        Path root = folder;
        for (String part : name.isEmpty() ? new String[0] : name.split("\\.")) {
            root = root.getParent() == null ? root : root.getParent();
        }
        return name.isEmpty() || folder.endsWith(name.replace('.', '/').replaceAll("/$", ""))
                ? root
                : folder;
    }

    private static List<Path> outputs(Path folder) {
        List<Path> found = new ArrayList<>();
        for (String each : OUTPUTS) {
            if (Files.isDirectory(folder.resolve(each))) {
                found.add(folder.resolve(each));
            }
        }
        return found;
    }

    private void sourcesNear(Path folder) {
        for (String each : SOURCES) {
            Path place = folder.resolve(each);
            if (Files.isDirectory(place)) {
                sources.add(place);
            }
        }
    }
}
