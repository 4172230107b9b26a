import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What this adapter supports, as DAP's `initialize` response says it. */
final class Capabilities {
    private Capabilities() {}

    static Map<String, Object> told() {
        Map<String, Object> told = new LinkedHashMap<>();
        for (String each :
                List.of(
                        "ConfigurationDoneRequest", "FunctionBreakpoints", "ConditionalBreakpoints",
                        "HitConditionalBreakpoints", "LogPoints", "EvaluateForHovers", "SetVariable",
                        "ExceptionInfoRequest", "ExceptionFilterOptions", "TerminateRequest")) {
            told.put("supports" + each, true);
        }
        told.put("supportTerminateDebuggee", true);
        told.put("exceptionBreakpointFilters", List.of(filter("caught", false), filter("uncaught", true)));
        return told;
    }

    private static Map<String, Object> filter(String name, boolean on) {
        return Json.of(
                "filter", name,
                "label", name.substring(0, 1).toUpperCase() + name.substring(1) + " exceptions",
                "default", on,
                "supportsCondition", true,
                "conditionDescription", "Class names, separated by commas");
    }
}
