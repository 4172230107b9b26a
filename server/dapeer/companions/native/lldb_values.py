"""Imported by LLDB: containers have their elements in one line, Rust programs Rust's own formatters.

lldb_values.py PATH...    print the rows of the register as JSON, from the first `lldb` that is at one of these paths, or beside it
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from typing import Any

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), "python")]
patching: Any = importlib.import_module("dapeer_debuggee.patching")
thrown: Any = importlib.import_module("thrown")

MAX_ELEMENTS = 20
"""Elements of a container that are shown."""
MAX_ELEMENTS_CHARS = 300
"""Characters of all shown elements together, about."""
MAX_LEVELS = 3
"""Levels of nested values that are shown."""
THROWS = "__cxa_throw"
"""The function of the C++ library that throws."""
MAX_TEXT_CHARS = 2000
"""Characters of an exception's text."""

MOST_STACK = 1 << 32
"""Bytes of one frame."""

VARIANT = "_getCurrentVariantIndex"
NICHE = 1 << 63
VARIANT_MODULUS = 1 << 32

NOWHERE = (1 << 64) - 1
"""LLDB's address of what is in no memory."""
CONTAINERS = (
    "array|vector|list|forward_list|deque|set|multiset|map|multimap|unordered_(multi)?(set|map)"
)

KIND = f"^std::(__[a-z0-9_]+::)?({CONTAINERS})<.+>$"
RUST = (
    r"^(alloc::([a-z_]+::)+)(Vec|VecDeque)<.+>$",
    r"^(std::collections::([a-z_]+::)+)Hash(Map|Set)<.+>$",
    r"^&(mut )?\\[.+\\]$",
)


VALUES = patching.Row(
    "lldb-values",
    "LLDB",
    "Containers do not show their elements in one line, and Rust's are shown in LLDB's own way.",
    adds=True,
)


def __lldb_init_module(  # pyright: ignore[reportUnusedFunction] - LLDB calls it
    debugger: Any,
    names: Any,
) -> None:
    """Register summaries and commands in the LLDB of `debugger`, an `lldb.SBDebugger`.

    The row `VALUES` does so. LLDB calls this at the import of this module. Rows that are off are reported on stderr, and the variable with
    their word is taken out of the program's environment.
    """

    @VALUES
    def improve(patch: Any) -> None:  # pyright: ignore[reportUnusedFunction]
        register(debugger)

    patching.reporters[:] = [patching.to_stderr]
    # LLDB has read its environment already.
    debugger.HandleCommand(f"settings append target.unset-env-vars {patching.WORD}")
    VALUES.apply()


def print_rows(paths: list[str]) -> None:
    """Print the patches of LLDB as a JSON list, as they apply in an `lldb` that is beside one of `paths`.

    Each path is that of a program (an adapter); the first `lldb` in the folder of such a program's real file
    is used. That LLDB is started without a program to debug, prints its register of patches
    (`patching.rows_as_dicts`, one dict for each `patching.Row`) to stdout, and its end is waited for, without
    a limit. If it fails, nothing is raised, and the list may be missing. If there is no `lldb`, the rows of
    this process are printed, and `VALUES.off` is set, so that the row `VALUES` is shown as unused.

    Raises:
        OSError: The `lldb` cannot be started.
    """
    beside = [os.path.join(os.path.dirname(os.path.realpath(each)), "lldb") for each in paths]
    lldb = next(filter(os.path.isfile, beside), None)
    if lldb is None:
        VALUES.off = "unused: there is no `lldb` beside the adapter to try it in"
        json.dump(patching.rows_as_dicts(), sys.stdout)
        return
    shown = "import json, sys; print(json.dumps(sys.modules['dapeer_debuggee.patching'].rows_as_dicts()))"
    says = [f"command script import '{os.path.abspath(__file__)}'", f"script {shown}"]
    command = [lldb, "--no-lldbinit", "--batch", *(each for say in says for each in ("-o", say))]
    subprocess.run(command, stdin=subprocess.DEVNULL, check=False)


def register(debugger: Any) -> None:
    """Register summaries of containers, arrays and references in an `lldb.SBDebugger`, and our commands.

    The commands are `dapeer_values`, `dapeer_thrown` and `dapeer_sources`; `debugger` is that of LLDB. What LLDB says of an error is
    ignored.
    """
    debugger.HandleCommand(f'type summary add -e -x "{KIND}" -F {__name__}.contents')
    # CodeLLDB leaves out of an object what has no summary, and lldb-dap shows it as `{...}`.
    of_arrays = (
        f"type summary add -e -F {__name__}.elements --recognizer-function {__name__}.is_array"
    )
    debugger.HandleCommand(of_arrays)
    # LLDB shows the address of what a reference stands for.
    of_references = (
        f"type summary add -e -F {__name__}.referred --recognizer-function {__name__}.is_reference"
    )
    debugger.HandleCommand(of_references)
    debugger.HandleCommand(f"command script add -o -f {__name__}.for_program dapeer_values")
    debugger.HandleCommand(f"command script add -o -f {__name__}.tell_thrown dapeer_thrown")
    debugger.HandleCommand(f"command script add -o -f {__name__}.tell_sources dapeer_sources")


def for_program(debugger: Any, program: str, result: Any, names: Any) -> None:
    """Load Rust's own formatters if `program` is a Rust program: LLDB's command `dapeer_values`.

    `program` is the path of a file. `debugger` is an `lldb.SBDebugger`; nothing is written to `result`. A failure switches the row off.
    """
    VALUES.guard(load_formatters, nothing)(debugger, program)


def nothing(*_: Any) -> None:
    """Do nothing, in place of `load_formatters` once the row is off: LLDB shows Rust's values itself."""


def restore_stock_summary(value: Any, *_: Any) -> str:
    """Remove or disable all our summaries in LLDB, and return LLDB's own summary of an `lldb.SBValue`.

    Empty: it has none. It is called in place of our summaries once the row of the patches is off; further
    arguments are ignored.
    """
    target = value.GetTarget()
    debugger = target.GetDebugger()
    for kind in (KIND, f"{__name__}.is_array", f"{__name__}.is_reference"):
        debugger.HandleCommand(f'type summary delete "{kind}"')
    debugger.HandleCommand("type category disable dapeer")
    # A value for which LLDB asks us now has no other summary.
    again = target.CreateValueFromAddress(value.GetName(), value.GetAddress(), value.GetType())
    return str(again.GetSummary() or "")


def load_formatters(debugger: Any, program: str) -> None:
    """Import Rust's formatters into an `lldb.SBDebugger`, if the file `program` is a Rust program.

    `rustc` is run to find them, which blocks for at most `SECONDS_FOR_RUSTC`. LLDB shows Rust's containers by
    our summary then. `program` is a path, perhaps in single quotes. Nothing happens if it is no Rust program or
    cannot be read, if rustc is missing, fails or takes longer, or if it has no such formatters.
    """
    folder = importlib.import_module("rust_formatters").folder_for(program.strip().strip("'"))
    if folder is not None:
        debugger.HandleCommand(f"command script import '{folder}/lldb_lookup.py'")
        debugger.HandleCommand(f"command source -s 1 '{folder}/lldb_commands'")
        for kind in RUST:
            summary = f'type summary add -w dapeer -e -x "{kind}" -F {__name__}.contents'
            debugger.HandleCommand(summary)
        debugger.HandleCommand("type category enable dapeer")
        find_variants()


def find_variants() -> None:
    """Make Rust's imported formatters find an enum's variant by our `variant`.

    Nothing happens where they have no such method.
    """
    enums = getattr(sys.modules.get("lldb_providers"), "ClangEncodedEnumProvider", None)
    if hasattr(enums, VARIANT):
        ours = VALUES.guard(variant, getattr(enums, VARIANT))
        VALUES.set(f"lldb_providers:ClangEncodedEnumProvider.{VARIANT}", ours)


def variant(_provider: Any, variants: Any) -> int:
    """Return the index of the variant that an enum's value has, among the children of `variants`.

    `variants` is an `lldb.SBValue`, each child of which is a variant with the number that tells it (`$discr$`). Of that
    number LLDB keeps 32 bits. Where it lies in the capacity of a String or Vec, all numbers of other variants are above
    any capacity, so a possible capacity fits none of these. If no variant's number fits, the result is the variant
    without a number, or 0 if all have one. `_provider` is not used.
    """
    every = [variants.GetChildAtIndex(number) for number in range(variants.GetNumChildren())]
    tells = [each.GetChildMemberWithName("$discr$") for each in every]
    default = next((number for number, each in enumerate(tells) if not each.IsValid()), 0)
    for number, discriminant in enumerate(tells):
        if not discriminant.IsValid():
            continue
        found = discriminant.GetValueAsUnsigned()
        is_capacity = found < NICHE and _is_capacity(every[default], discriminant.GetLoadAddress())
        if not is_capacity and every[number].GetName() in {
            f"$variant${found}",
            f"$variant${found % VARIANT_MODULUS}",
        }:
            return number
    return default


def _is_capacity(value: Any, address: int) -> bool:
    """Return whether an `lldb.SBValue`, or a member at any depth, is a capacity that lies at `address`.

    A capacity is that of a String or Vec, told by the name of its type. Pointers are not followed.
    """
    if value.GetType().GetName().endswith("UsizeNoHighBit"):
        return bool(value.GetLoadAddress() == address)
    inside = value.GetNonSyntheticValue()
    children = (inside.GetChildAtIndex(number) for number in range(inside.GetNumChildren()))
    return any(
        _is_capacity(each, address) for each in children if not each.GetType().IsPointerType()
    )


def tell_sources(_: Any, name: str, context: Any, result: Any, _names: Any) -> None:
    """Print the program's files with a base name, a line each: LLDB's command `dapeer_sources`.

    `context` is an `lldb.SBExecutionContext`, `result` the `lldb.SBCommandReturnObject` that gets the text.
    """
    result.PutCString(sources_named(context.GetTarget(), name))


def sources_named(target: Any, name: str) -> str:
    """Return the paths of a program's source files that have the base name `name`, a line each.

    `target` is an `lldb.SBTarget`. Headers are not looked for. Empty: there is none, or the row is off.
    """
    listed: str = VALUES.guard(_sources_named, lambda *_: "")(target, name)  # pyright: ignore[reportUnknownLambdaType]
    return listed


def _sources_named(target: Any, name: str) -> str:
    """Return the paths of the compile units of an `lldb.SBTarget` that have a base name, a line each."""
    units = (unit.file for module in target.modules for unit in module.compile_units)
    return "\n".join(dict.fromkeys(each.fullpath for each in units if each.basename == name))


def tell_thrown(_: Any, _command: str, context: Any, result: Any, _names: Any) -> None:
    """Print the C++ exception that is being thrown, as a JSON string: LLDB's command `dapeer_thrown`.

    It is empty unless exactly one thread is at `__cxa_throw`: lldb-dap 19 does not select the thread that it is asked about. `context` is
    an `lldb.SBExecutionContext`, `result` an `lldb.SBCommandReturnObject`.
    """
    threads = [each for each in context.GetProcess() if each.GetFrameAtIndex(0).name == THROWS]
    described = describe_thrown(threads[0]) if len(threads) == 1 else ""
    result.PutCString(json.dumps(described))


def describe_thrown(thread: Any) -> str:
    """Return type and text of the exception that an `lldb.SBThread` throws.

    Empty: they are unknown, or the row is off.
    """
    described: str = VALUES.guard(_describe_thrown, lambda _: "")(thread)  # pyright: ignore[reportUnknownLambdaType]
    return described


def _describe_thrown(thread: Any) -> str:
    """Return type and text of the C++ exception that an `lldb.SBThread` throws, as `TYPE: TEXT`.

    Its innermost frame must be `__cxa_throw`, which is not checked. Only `TYPE` is returned, unless the class
    derives from `std::runtime_error` or `std::logic_error` and keeps their `what()`; the result is empty if the
    type cannot be read. No code of the program runs.
    """
    lldb: Any = sys.modules["lldb"]
    process, frame = thread.GetProcess(), thread.GetFrameAtIndex(0)
    target = process.GetTarget()
    # Where the library has debug information, its registers may have changed already.
    of_call = frame.arguments or [frame.FindRegister(name) for name in ("arg1", "arg2")]
    error = lldb.SBError()

    def pointer(address: int) -> Any:
        return process.ReadPointerFromMemory(address, error)

    def text(address: int) -> Any:
        return process.ReadCStringFromMemory(address, MAX_TEXT_CHARS, error)

    def symbol(address: int) -> Any:
        return target.ResolveLoadAddress(address).GetSymbol().GetName() or ""

    def demangled(name: str) -> str:
        return _demangled(lldb, target.GetDebugger(), name)

    memory = thrown.Memory(pointer, text, symbol, demangled)
    return str(thrown.describe(memory, *(each.GetValueAsUnsigned() for each in of_call[:2])))


def _demangled(lldb: Any, debugger: Any, name: str) -> str:
    """Return the symbol `name` as C++ writes it, by a command of LLDB; unchanged if LLDB cannot do that."""
    result = lldb.SBCommandReturnObject()
    debugger.GetCommandInterpreter().HandleCommand(f"language cplusplus demangle {name}", result)
    return (result.GetOutput() or "").partition(" ---> ")[2].strip() or name


def is_reference(kind: Any, names: Any) -> bool:
    """Return whether an `lldb.SBType` is a reference to a number, a truth value or an enum.

    LLDB calls it to choose the summary `referred`; `names`, which it passes, is not used. False where the check raises something.
    """
    return bool(VALUES.guard(_is_reference, lambda _: False)(kind))  # pyright: ignore[reportUnknownLambdaType]


def _is_reference(kind: Any) -> bool:
    """Return whether an `lldb.SBType` is a reference to a scalar or an enumeration.

    These may be named by a typedef. False for a reference to anything else, such as an object, and for a type that is no reference.
    """
    if not kind.IsReferenceType():
        return False
    plain = kind.GetDereferencedType().GetCanonicalType()
    lldb: Any = sys.modules["lldb"]
    return bool(
        plain.GetTypeFlags() & lldb.eTypeIsScalar
        or plain.GetTypeClass() & lldb.eTypeClassEnumeration
    )


def referred(value: Any, names: Any) -> str:
    """Return what a reference stands for, as text; LLDB calls it as a summary, behind the address."""
    shown: str = VALUES.guard(_reference_text, restore_stock_summary)(value)
    return shown


def _reference_text(value: Any) -> str:
    target = value.Dereference()
    return _unavailable_text(value) or str(target.GetSummary() or target.GetValue() or "")


def contents(value: Any, names: Any) -> str:
    """Return how many elements a container has, and the first of them; LLDB calls it as a summary.

    `value` is an `lldb.SBValue`. Once the row is off, LLDB's own summary is returned.
    """
    shown: str = VALUES.guard(_container_text, restore_stock_summary)(value, MAX_LEVELS)
    return shown


def is_array(kind: Any, names: Any) -> bool:
    """Return whether an `lldb.SBType` is an array, but no text.

    LLDB calls it to choose the summary `elements`.
    """
    return bool(VALUES.guard(_is_array, lambda _: False)(kind))  # pyright: ignore[reportUnknownLambdaType]


def _is_array(kind: Any) -> bool:
    kind = kind.GetCanonicalType()
    return kind.IsArrayType() and "char" not in kind.GetArrayElementType().GetName()


def elements(value: Any, names: Any) -> str:
    """Return the first elements of an array, an `lldb.SBValue`; LLDB calls it as a summary."""
    shown: str = VALUES.guard(_elements, restore_stock_summary)(value, MAX_LEVELS)
    return shown


def _elements(value: Any, depth: int) -> str:
    return _unavailable_text(value) or _children_text(
        value, value.GetNumChildren(), depth, names=False
    )


def _container_text(value: Any, depth: int) -> str:
    """Return the text of a container (an `lldb.SBValue`): `size=N` and its first elements.

    `depth` levels of nested values are shown, and at most `MAX_ELEMENTS` elements, but none behind
    `MAX_ELEMENTS_CHARS` characters. An array without a formatter is shown by its elements alone, an empty
    container as `size=0`, and a value in a frame that LLDB has lost as not available.
    """
    if unknown := _unavailable_text(value):
        return unknown
    whole = value.GetSyntheticValue() if not value.IsSynthetic() else value
    if not whole.IsValid():  # LLDB has no formatter of libstdc++'s std::array
        return _elements(value.GetChildAtIndex(0), depth)
    value = whole
    count = value.GetNumChildren()
    shown = _children_text(value, count, depth, names=False)
    return f"size={count} {shown}" if count else "size=0"


def _unavailable_text(value: Any) -> str:
    """Return a text in place of a value in a frame that LLDB has lost; empty: the value is known.

    In such a frame LLDB reads variables elsewhere. `value` is an `lldb.SBValue`; one that is in no memory counts as known.
    """
    frame = value.GetFrame()
    in_memory = frame.IsValid() and value.GetLoadAddress() != NOWHERE
    lost = in_memory and not 0 <= frame.GetCFA() - frame.GetSP() < MOST_STACK
    return "<variable not available: LLDB has lost the frame>" if lost else ""


def _children_text(value: Any, count: int, depth: int, *, names: bool) -> str:
    """Return the first children of an `lldb.SBValue` in braces, with `, …` where some are left out.

    `count` is how many it has; at most `MAX_ELEMENTS` are shown, and none behind `MAX_ELEMENTS_CHARS` characters. `depth` is how many
    levels are still shown; `names` puts each child's name before it.
    """
    parts: list[str] = []
    length = 0
    for index in range(min(count, MAX_ELEMENTS)):
        child = value.GetChildAtIndex(index)
        name = f"{child.GetName()}:" if names else ""
        parts.append(f"{name}{_value_line(child, depth - 1)}")
        length += len(parts[-1])
        if length > MAX_ELEMENTS_CHARS:
            break
    return f"{{{', '.join(parts)}{', …' * (len(parts) < count)}}}"


def _value_line(value: Any, depth: int) -> str:
    """Return an `lldb.SBValue` in one line: LLDB's summary or value, else its members.

    Members are shown `depth` levels deep; below, there is `{…}`.
    """
    shown = value.GetSummary() or value.GetValue()
    if shown:
        return str(shown)
    count = value.GetNumChildren()
    return _children_text(value, count, depth, names=True) if count and depth > 0 else "{…}"


if __name__ == "__main__":
    print_rows(sys.argv[1:])
