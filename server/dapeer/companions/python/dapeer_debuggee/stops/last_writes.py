"""Finds who has written an attribute, an item or a variable last, in a run recorded from its start.

Which object it is about is known only at the stop. So the value is looked at in all objects of its owner's type, wherever a line names one:
before the line, and after it. What has changed between the two was done by the line, or by what it called; what has changed before the first
was done where nobody looked, and is told so.
"""

from __future__ import annotations

import ast
import functools
import importlib
import json
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any

from .. import functions, guard, sources
from ..collecting import expressions
from ..values import objects, states
from . import watching

NOTHING = watching.NOTHING
MAX_OWNERS = 20000
"""Objects whose last write is remembered; of more the oldest are forgotten."""
MAX_FRAMES = 40
"""Frames of a write that are remembered."""
SUSPENDS = 0x20 | 0x80 | 0x200
"""Flags of generators and coroutines, whose frames go on."""
PLAIN_KEYS = (str, int, bytes, bool, float, type(None))
Chain = Any
"""A name, and the attributes (`str`) and items (a tuple of one key or name) that follow it."""


def described(expression: str) -> str:
    """Return what an expression names at a stop, as JSON, or its `error`.

    It is for the specification of a point (`last`). It evaluates what stands before the last dot or bracket, in the
    frame that calls this function.
    """
    here: Any = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    try:
        return json.dumps(_described(expression, here))
    except expressions.InvalidExpression as error:
        return json.dumps({"error": str(error)})


def _described(expression: str, names: Any) -> dict[str, Any]:
    """Return what an expression names, as a dict: `kind`, and what identifies it in another run.

    `names` is the frame of the evaluation; the expression is looked up in the stopped frame that has its variables.
    `kind` is `local` (with `name`, and `file`, `line`, `code` of the function: its path, first line and name),
    `global` (with `name`, `module`), `attribute` or `item` (with `name`, of an item the `repr` of its key, and
    `module` and `type` of the owner's class). A negative index of a list becomes the one from its start. The owner
    and the key are evaluated, which may run code of the program; the attribute or item itself is not read, and need
    not exist.

    Raises:
        InvalidExpression: The expression is no variable, attribute or item; its variable is not there, or is one of
            a function around; the evaluation of owner or key fails; the attribute is a property, or the owner holds
            no attributes; or the item's container is no dict, list or NumPy array, or its key is no plain value
            (such as a text or number).
    """
    tree = parse_place(expression)
    if isinstance(tree, ast.Name):
        there = watching.stopped_frame(names) or names
        code = there.f_code
        if tree.id in code.co_freevars:
            raise expressions.InvalidExpression(
                f"{tree.id} is a variable of the function around {code.co_name}: ask at a stop in that"
            )
        if there.f_locals is not there.f_globals and tree.id in there.f_locals:
            place = {"file": code.co_filename, "line": code.co_firstlineno, "code": code.co_name}
            return {"kind": "local", "name": tree.id, **place}
        if tree.id not in there.f_globals:
            raise expressions.InvalidExpression(f"there is no variable {tree.id} here")
        return {"kind": "global", "name": tree.id, "module": there.f_globals.get("__name__", "")}
    owner, part = owner_of(tree, names)
    kind: Any = type(owner)  # pyright: ignore[reportUnknownVariableType]
    of = {"module": objects.module_of(kind), "type": objects.name_of(kind)}
    if isinstance(tree, ast.Attribute):
        watching.attribute_reader(owner, tree.attr)
        return {"kind": "attribute", "name": tree.attr, **of}
    watching.item_reader(owner, part)
    if type(part) not in PLAIN_KEYS:
        raise expressions.InvalidExpression(
            f"the key is a {objects.name_of(type(part))}, which is another one in the next run"
        )
    return {"kind": "item", "name": repr(part), **of}


def parse_place(expression: str) -> Any:
    """Return the tree (of `ast`) of an expression that is a variable, attribute or item.

    Raises:
        InvalidExpression: It is none of these, or does not parse.
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        tree = None
    if not isinstance(tree, (ast.Name, ast.Attribute, ast.Subscript)):
        raise expressions.InvalidExpression(f"`{expression}` is no variable, attribute or item")
    return tree


def owner_of(tree: Any, frame: Any) -> Any:
    """Return the object whose attribute or item an expression names, and the name or key, as a pair.

    `tree` is the expression's `ast.Attribute` or `ast.Subscript`. The object and a key are evaluated with the
    variables of `frame`, which may run code of the program; the attribute itself is not read. A negative index of a
    list is returned as one from its start.

    Raises:
        InvalidExpression: The evaluation has raised something.
    """
    known = {**frame.f_globals, **frame.f_locals}
    try:
        owner = watching.evaluate_part(tree.value, known)
        if isinstance(tree, ast.Attribute):
            return owner, tree.attr
        key = watching.evaluate_part(tree.slice, known)
    except Exception as error:
        raise expressions.InvalidExpression(f"{type(error).__name__}: {error}") from None
    if issubclass(type(owner), list) and type(key) is int and key < 0:
        key += len(owner)
    return owner, key


# The places that a line names, by its text.


@functools.lru_cache(maxsize=2000)
def chains_in(file: str) -> dict[int, list[Chain]]:
    """Return what the lines of a file name, by line: variables, and attributes and items behind them.

    `file` is a path. The keys are 1-based lines, the values lists of `Chain`s: each line of a statement has those
    of the statement; of one with a `body`, only the lines before that. A chain may come twice. Any other line is no
    key. The dict is empty if the file cannot be read or does not parse. The answer is kept, also when the file
    changes; callers do not change it.
    """
    linecache: Any = importlib.import_module("linecache")
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, list[Chain]] = {}
    for statement in ast.walk(tree):
        if isinstance(statement, ast.stmt):
            every: Any = filter(None, map(chain_of, parts_of(statement)))
            chains: list[Chain] = list(dict.fromkeys(every))
            for line in range(statement.lineno, last_line(statement) + 1):
                found.setdefault(line, []).extend(chains)
    return found


def last_line(statement: Any) -> int:
    """Return the last line of a statement, or of its head if it has a body."""
    body = getattr(statement, "body", None)
    if body:
        return max(statement.lineno, body[0].lineno - 1)
    return getattr(statement, "end_lineno", None) or statement.lineno


def parts_of(statement: Any) -> Iterator[Any]:
    """Yield the expressions in a statement, at any depth, but not those of statements within it.

    `statement` is a node of `ast`; an expression comes before those in it.
    """
    left = [statement]
    while left:
        for each in ast.iter_child_nodes(left.pop()):
            if isinstance(each, ast.expr):
                yield each
            if not isinstance(each, ast.stmt):
                left.append(each)


def chain_of(tree: Any) -> Chain:
    """Return what an expression names as a `Chain`; None: it has something that a chain cannot have.

    `tree` is the expression as a node of `ast`, without an `ast.Expression` around. The chain is a tuple: a
    name, then for each step the name of an attribute, or for an item `(False, KEY)` with a constant or `(True,
    NAME)` with a variable as its key. For `a.b[0][i]` it is `("a", "b", (False, 0), (True, "i"))`. Any other
    key (`a[-1]`, `a[1:]`), and any call or operator, gives None.
    """
    steps: list[Any] = []
    while not isinstance(tree, ast.Name):
        if isinstance(tree, ast.Attribute):
            steps.append(tree.attr)
        elif isinstance(tree, ast.Subscript):
            key: Any = (
                getattr(tree.slice, "value", None) if watching.is_index(tree.slice) else tree.slice
            )
            if isinstance(key, ast.Constant):
                steps.append((False, key.value))
            elif isinstance(key, ast.Name):
                steps.append((True, key.id))
            else:
                return None
        else:
            return None
        tree = tree.value
    return (tree.id, *reversed(steps))


def objects_along(chain: Chain, local: Any, module: Any) -> Iterator[Any]:
    """Yield the objects that a chain names, one for its first name and each further step.

    `chain` is a name, followed by attributes (texts) and items (tuples, see `item`). `local` and `module` are dicts
    of the variables of the frame and of its module. The iterator ends early, and may yield nothing, where a name or
    a part does not exist or is computed, or a key is not plain. No code of the program runs.
    """
    value = value_of_name(chain[0], local, module)
    for step in chain[1:]:
        if value is NOTHING:
            return
        yield value
        value = member(value, step) if type(step) is str else item(value, step, local, module)
    if value is not NOTHING:
        yield value


def value_of_name(name: str, local: Any, module: Any) -> Any:
    """Return the value of a variable; `NOTHING`: there is none."""
    return local[name] if name in local else module.get(name, NOTHING)


def member(owner: Any, name: str) -> Any:
    """Return an attribute that an object or its class holds; `NOTHING`: it is computed, or not there.

    No code of the program runs. Properties and other descriptors, such as methods, that the class holds count as
    computed. `NOTHING` is also returned for each attribute but those of `__slots__` of an object that holds no
    attributes itself, such as a number, although its class may hold one. If `owner` is a class, what it inherits is not
    found.
    """
    try:
        value = watching.attribute_reader(owner, name)()
    except expressions.InvalidExpression:
        return NOTHING
    if value is NOTHING:
        value = objects.class_member(type(owner), name, NOTHING)
        if value is NOTHING or objects.class_member(type(value), "__get__") is not None:
            return NOTHING
    return value


def item(owner: Any, step: Any, local: Any, module: Any) -> Any:
    """Return an item of a dict, list or NumPy array; `NOTHING` where there is none to read.

    `step` is `(False, KEY)`, or `(True, NAME)` with the name of a variable that has the key, in the dicts `local`
    or else `module`. `NOTHING`, too: the key is not plain or does not fit, there is no such variable, or `owner`
    is another object or of a subclass of NumPy's array. No code of the program runs.
    """
    is_name, key = step
    if is_name:
        key = value_of_name(key, local, module)
    if type(key) not in PLAIN_KEYS:
        return NOTHING
    try:
        return watching.item_reader(owner, key)()
    except (expressions.InvalidExpression, TypeError):
        return NOTHING


class Record:
    """What is known of the value in one object, or one call."""

    __slots__ = ("_owner_reference", "last", "state", "text", "writes")

    def __init__(self, owner: Any, value: Any, seen: dict[str, Any]) -> None:
        """Begin with a value that is there already; `seen` tells where that was."""
        try:
            self._owner_reference: Any = weakref.ref(owner)
        except TypeError:
            # Its number must not become another's.
            self._owner_reference = functools.partial(returned, owner)
        self.state, self.text = states.state(value), watching.text_of(value)
        self.writes = 0
        self.last = seen

    def is_of(self, owner: Any) -> bool:
        """Return whether this is about `owner`, and not about an object that had its number before."""
        return self._owner_reference() is owner

    def record_change(self, value: Any) -> str:
        """Record a value if it differs from the recorded one; return the text of the one before, else "".

        Values differ if their `states.state` do, which runs no code of the program. A change is counted in
        `writes`; `last` is left to the caller. Where there was no value before, the returned text is
        `(nothing)`.
        """
        now = states.state(value)
        if now == self.state:
            return ""
        before = self.text or "(nothing)"
        self.state, self.text = now, watching.text_of(value)
        self.writes += 1
        return before


def returned(value: Any) -> Any:
    """Return `value`."""
    return value


class LastWrites:
    """Remembers the last write of a place in each object of a type, in a module, or in each call."""

    over = False
    """It looks until the program ends; the names are those of `watching.CodeWatches`."""

    def __init__(self, spec: dict[str, Any]) -> None:
        """Remember nothing yet; `spec` is what `described` has told."""
        self._kind: str = spec["kind"]
        self._name: str = spec["name"]
        self._spec = spec
        self._key: Any = ast.literal_eval(spec["name"]) if self._kind == "item" else None
        self._is_of_type: dict[int, Any] = {}
        """By the number of a type, the type, and whether its objects are looked at."""
        self._records: dict[int, Record] = {}
        self._frames_at_line: dict[int, Any] = {}
        """By the number of a frame that is at a line.

        Its code, the line, `_looks` and `_turns` by then, and the owners that the line names.
        """
        self._hits: dict[Any, int] = {}
        self._scope = watching.WatchScope(None)
        self._looks = 0
        self._turns = 0
        self._thread = 0
        self._lock = threading.RLock()
        self._guarded_look = guard.hook(self._look)

    def concerns(self, frame: Any) -> bool:
        """Return whether the lines of a frame's code are looked at.

        For a local variable this is the code of its function only, else all code that is neither a library's nor
        the debugger's; made-up files such as `<string>` count, except Python's own (`<frozen …>`).
        """
        code = frame.f_code
        if self._kind == "local":
            of = (self._spec["file"], self._spec["line"], self._spec["code"])
            return (code.co_filename, code.co_firstlineno, code.co_name) == of
        file = code.co_filename
        made = file.startswith("<") and not functions.is_own(code, frame.f_globals)
        return (made and functions.is_programs(file)) or self._scope.holds(frame)

    def begin(self, frame: Any) -> Any:
        """Look at a frame that runs already; return its line, and an empty dict."""
        self._guarded_look(frame, 0, "line")
        return frame.f_lineno, {}

    def look(self, frame: Any, line: int, _seen: Any, event: str) -> bool:
        """Look at what the ended line names, and what the next one does; return False: it never stops."""
        self._guarded_look(frame, line, event)
        return False

    def _look(self, frame: Any, line: int, event: str) -> None:
        """Record writes by the line that has ended; note what the next line names, and count its hit.

        Each value that a line names is compared with the one that is known; a change is recorded as a write. `line` is
        the one that has ended; 0: none. `event` is a trace event; at `return` there is no next line, and nothing is
        counted. Where the watched place is a local variable, what is known of it in `frame` is forgotten if `line` is 0
        and at `return`, but never for a generator or coroutine.
        """
        with self._lock:
            self._turn()
            local = frame.f_locals
            going = self._frames_at_line.pop(id(frame), None)
            if line and going is not None:
                self._compare(frame, local, going[1], going)
            goes_on = (line and event != "return") or frame.f_code.co_flags & SUSPENDS
            if self._kind == "local" and not goes_on:
                # Its number becomes another's.
                self._records.pop(id(frame), None)
            if event != "return":
                looked_at = self._compare(frame, local, frame.f_lineno, None)
                code = frame.f_code
                self._hits[code, frame.f_lineno] = self._hits.get((code, frame.f_lineno), 0) + 1
                self._frames_at_line[id(frame)] = (
                    code, frame.f_lineno, self._looks, self._turns, looked_at,
                )  # fmt: skip

    def _turn(self) -> None:
        """Count a look, and whether another thread has looked before."""
        self._looks += 1
        thread = threading.get_ident()
        if thread != self._thread:
            self._thread = thread
            self._turns += 1

    def _compare(self, frame: Any, local: Any, line: int, going: Any) -> set[int]:
        """Compare the followed values at a line with those known, and remember what has changed.

        It returns the numbers of the owners of all that were compared, changed or not: `id()` of the frame or object, 0
        of a module. Empty: the line names no such object, or the module is not loaded. `local` has the frame's
        variables. `going` is the entry that `_frames_at_line` had of the line, if it has ended; None: it is about to
        run.
        """
        if self._kind == "local":
            every = [(id(frame), frame, local.get(self._name, NOTHING))]
        elif self._kind == "global":
            module = sys.modules.get(self._spec["module"])
            value = NOTHING if module is None else vars(module).get(self._name, NOTHING)
            every = [(0, module, value)] if module is not None else []
        else:
            owners = self._owners(frame, local, line)
            every = [(id(owner), owner, self._read(owner)) for owner in owners]
        for number, owner, value in every:
            # What the line did not name when it began may have changed before it.
            known = going if going is not None and number in going[4] else None
            self._note(number, owner, value, frame, line, known)
        return {number for number, _, _ in every}

    def _owners(self, frame: Any, local: Any, line: int) -> list[Any]:
        """Return the objects of the type that a line names, each once."""
        file = frame.f_code.co_filename
        known = chains_in(file)
        chains = known.get(line, ()) if known else [(each,) for each in local]
        every = (each for chain in chains for each in objects_along(chain, local, frame.f_globals))
        return list({id(each): each for each in every if self._is_wanted(type(each))}.values())

    def _is_wanted(self, kind: Any) -> bool:
        """Return whether objects of a type are looked at: it has the module and name of the owner's.

        The answer is kept for the type. A subclass is another type.
        """
        known = self._is_of_type.get(id(kind))
        if known is None:
            wanted = (objects.module_of(kind), objects.name_of(kind)) == (
                self._spec["module"],
                self._spec["type"],
            )
            known = self._is_of_type[id(kind)] = kind, wanted
        return bool(known[1])

    def _read(self, owner: Any) -> Any:
        """Return the attribute or item of `owner` that is followed here, without running code; or `NOTHING`.

        This object says whether it is an attribute or an item, and which. The result is `NOTHING` if `owner` has
        none, computes it (a property), or is of a kind whose attributes or items cannot be read, and for a key of a
        wrong type.
        """
        try:
            if self._kind == "attribute":
                return watching.attribute_reader(owner, self._name)()
            return watching.item_reader(owner, self._key)()
        except (expressions.InvalidExpression, TypeError):
            return NOTHING

    def _note(self, number: int, owner: Any, value: Any, frame: Any, line: int, going: Any) -> None:
        """Compare a value with the one that is known of its owner, and remember the place that has changed it.

        `number` is the `id()` of the owner, 0 of a module. An owner that is new, or has the number of one that is
        gone, is recorded with its value and this place; if there are more than `MAX_OWNERS` then, the one that was
        recorded first is forgotten. Nothing happens if the value is as it was. `line` is the line of the frame's code
        that has ended or is about to run. `going` is the entry of `_frames_at_line` for a line that has ended; None:
        the line is about to run, or did not name the owner when it began.
        """
        record = self._records.get(number)
        if record is None or not record.is_of(owner):
            self._records[number] = Record(owner, value, self._place(frame, line, going))
            if len(self._records) > MAX_OWNERS:
                del self._records[next(iter(self._records))]
            return
        before = record.record_change(value)
        if before:
            record.last = {**self._place(frame, line, going), "before": before}

    def _place(self, frame: Any, line: int, going: Any) -> dict[str, Any]:
        """Return where a write was seen, as a dict: stack, hits of the line, and who else may have done it.

        `frame` is the frame that was looked at, and `line` the line of its code that has ended or is about to run.
        `going` is the entry of `_frames_at_line` for that line if the line has ended; None: it is about to run, or
        did not name the owner when it began.

        The dict always has five keys. `stack` is a list of pairs of code object and line, the innermost first,
        without dapeer's own frames; at most `MAX_FRAMES`. `hit` is how often the line has begun to run, without a
        run that is only about to begin. The others are booleans: `unseen` says that the write happened out of sight
        before the line (`going` is None); `inside`, that further lines were looked at while this line ran, such as
        those of a called function; `others`, that another thread was looked at meanwhile.
        """
        stack: list[Any] = []
        outer = frame
        while outer is not None and len(stack) < MAX_FRAMES:
            if not functions.is_own(outer.f_code, outer.f_globals):
                stack.append((outer.f_code, line if outer is frame else outer.f_lineno))
            outer = outer.f_back
        return {
            "stack": stack,
            "hit": self._hits.get((frame.f_code, line), 0),
            "unseen": going is None,
            "inside": going is not None and self._looks - going[2] > 1,
            "others": going is not None and self._turns != going[3],
        }

    def told(self, tree: Any, names: Any) -> Any:
        """Return who has written a place last, at a stop in the run that was recorded.

        `tree` is the expression, `names` the frame of the evaluation. All lines on the stack that are not over yet are
        looked at before, and what those have changed is remembered. The keys are `writes` (their number), `now` (the
        value's text, `(nothing)` if there is none) and, if anything is known, `stack` (name, file and line of each
        frame, the innermost first), and `hit`, `unseen`, `inside` and `others` as in `_place`, with `before` if a
        change was seen. A change that no look has seen is one before the line of the stop, and `unseen`.

        Raises:
            InvalidExpression: The object or key of an attribute or element cannot be evaluated.
        """
        stopped = watching.stopped_frame(names) or names
        frame = stopped
        while frame is not None:
            going = self._frames_at_line.get(id(frame))
            if going is not None and going[0] is frame.f_code:
                self._turn()
                self._compare(frame, frame.f_locals, going[1], going)
            frame = frame.f_back
        if self._kind == "local":
            number, owner = id(stopped), stopped
            value = stopped.f_locals.get(self._name, NOTHING)
        elif self._kind == "global":
            number, owner = 0, sys.modules.get(self._spec["module"])
            value = names.f_globals.get(self._name, NOTHING)
        else:
            owner, _part = owner_of(tree, names)
            number, value = id(owner), self._read(owner)
        record = self._records.get(number)
        now = watching.text_of(value) or "(nothing)"
        if record is None or not record.is_of(owner):
            return {"writes": 0, "now": now}
        self._note(number, owner, value, stopped, stopped.f_lineno, None)
        frames: Any = record.last["stack"]
        return {
            **record.last,
            "writes": record.writes,
            "now": now,
            "stack": [
                (functions.qualified(code), sources.normalized_path(code.co_filename), line)
                for code, line in frames
            ],
        }


def last_write_as_json(expression: str) -> str:
    """Return who has written a place last, as JSON of what `LastWrites.told` tells, or its `error`.

    The function is called in an evaluation: names are looked up in the frame that calls it, and code of the program
    may run for that. `expression` is the text of a variable, attribute or item. If several recordings of last
    writes are there, the first one answers. The only key is `error`, a text, if nothing was recorded, if
    `expression` is none of these, or if one of the recordings cannot evaluate its object or key in that frame.
    """
    here: Any = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    collecting: Any = importlib.import_module("dapeer_debuggee.collecting.collecting")
    looking = [each for collector in collecting.collectors for each in collector.last_writes()]
    try:
        every = [each.told(parse_place(expression), here) for each in looking]
        return json.dumps(every[0] if every else {"error": "nothing was recorded"})
    except expressions.InvalidExpression as error:
        return json.dumps({"error": str(error)})
