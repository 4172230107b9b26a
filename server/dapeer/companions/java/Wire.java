import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** Reads and writes the messages of the Debug Adapter Protocol. */
final class Wire {
    private final InputStream in;
    private final OutputStream out;
    private final Map<Integer, CompletableFuture<Map<String, Object>>> asked =
            new ConcurrentHashMap<>();
    private int sent;

    Wire(InputStream in, OutputStream out) {
        this.in = in;
        this.out = out;
    }

    /** Return the next request; null at the end of the input. */
    Map<String, Object> request() throws IOException {
        while (true) {
            int length = -1;
            for (String line = line(); line == null || !line.isEmpty(); line = line()) {
                if (line == null) {
                    return null;
                }
                if (line.toLowerCase().startsWith("content-length:")) {
                    length = Integer.parseInt(line.substring(15).trim());
                }
            }
            byte[] body = in.readNBytes(Math.max(length, 0));
            if (body.length < length) {
                return null;
            }
            Map<String, Object> message =
                    Json.table(Json.read(new String(body, StandardCharsets.UTF_8)));
            if ("request".equals(message.get("type"))) {
                return message;
            }
            CompletableFuture<Map<String, Object>> waiting =
                    asked.remove(Json.number(message.get("request_seq")));
            if (waiting != null) {
                waiting.complete(message);
            }
        }
    }

    void respond(Map<String, Object> request, Map<String, Object> body) {
        Map<String, Object> message = response(request, true);
        message.put("body", body);
        send(message);
    }

    void refuse(Map<String, Object> request, String why) {
        Map<String, Object> message = response(request, false);
        message.put("message", why);
        send(message);
    }

    void event(String name, Object... body) {
        send(Json.of("type", "event", "event", name, "body", Json.of(body)));
    }

    /** Ask the client for something, and return its response. */
    CompletableFuture<Map<String, Object>> ask(String command, Object... arguments) {
        CompletableFuture<Map<String, Object>> answer = new CompletableFuture<>();
        Map<String, Object> message =
                Json.of("type", "request", "command", command, "arguments", Json.of(arguments));
        synchronized (this) {
            asked.put(sent + 1, answer);
            send(message);
        }
        return answer;
    }

    /** Return the first line of an error's message. */
    static String why(Throwable error) {
        String message = error.getMessage();
        return (message == null ? error.toString() : message).split("\n")[0];
    }

    private static Map<String, Object> response(Map<String, Object> request, boolean success) {
        return new LinkedHashMap<>(
                Json.of(
                        "type", "response",
                        "request_seq", request.get("seq"),
                        "command", request.get("command"),
                        "success", success));
    }

    private synchronized void send(Map<String, Object> message) {
        message.put("seq", ++sent);
        byte[] body = Json.write(message).getBytes(StandardCharsets.UTF_8);
        try {
            out.write(("Content-Length: " + body.length + "\r\n\r\n").getBytes());
            out.write(body);
            out.flush();
        } catch (IOException gone) {
            // The client is gone; the end of its requests ends this adapter.
        }
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                return null;
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }
}
