"""Finds which lock a frame waits for, and which locks its lines hold. Runs no code of the program.

Python does not tell who holds a lock. Who is inside of `with lock:`, or past `lock.acquire()` on every way, holds it.
"""

from __future__ import annotations

import ast
import collections
import dis
import itertools
import os
import re
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

from .. import held
from . import awaiting, paths, pools, symbols

# Finds by its instructions which lock a call takes now, and which it has surely taken.
#
# A line is no proof: in `with lock: time.sleep(60)` one line takes the lock and sleeps in it. Instructions are one. Nothing is run.

MAX_CODE_BYTES = 60_000
"""Bytes of the code of a function that is followed; nothing is known of a longer one."""
MAX_KEPT = 500
"""Functions that are kept when they have been followed."""
ENTERS = ("BEFORE_WITH", "SETUP_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL")
"""Instructions that enter an item of a `with`; the last comes twice, first with the exit's name."""
WITH_BLOCKS = ("SETUP_WITH", "SETUP_ASYNC_WITH")
BLOCKS = (*WITH_BLOCKS, "SETUP_FINALLY")
HAS_TABLE = sys.version_info >= (3, 11)
ENDS = (
    *("RETURN_VALUE", "RETURN_CONST", "RAISE_", "RERAISE"),
    *("JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD"),
)
"""Beginnings of instructions behind which the next one is not run.

A coroutine goes on behind `RETURN_GENERATOR`.
"""
AWAITS = ("LOAD_CONST", "SEND", "YIELD_VALUE", "RESUME", "JUMP_BACKWARD_NO_INTERRUPT", "YIELD_FROM")
KEPT: dict[Any, Any] = {}
"""By code: what its instructions say."""


class LockTaking:
    """A place in a function that takes a lock: an item of a `with`, or a call of `acquire`."""

    def __init__(self, node: Any, line: int, *, awaited: bool, inside: bool) -> None:
        self.node, self.line = node, line
        self.awaited = awaited
        """Whether the lock is one of tasks."""
        self.inside = inside
        """Whether it is held until a `with` ends."""


class LockFlow:
    """The instructions of a function, and what each of them may rely on."""

    def __init__(self, code: types.CodeType) -> None:
        self.steps = [*dis.get_instructions(code)]
        self.places = {each.offset: number for number, each in enumerate(self.steps)}
        self.stacks = symbols.stacks(self.steps)
        self.blocks: dict[int, tuple[int, ...]] = {}
        listing: Any = dis.Bytecode(code)
        self.entries: Any = listing.exception_entries if HAS_TABLE else ()
        self.takings = self._takings()
        self.known = self._states_before()

    def number(self, offset: int) -> int:
        """Return the index in `steps` of the instruction at an offset, or in whose cache that offset is."""
        return max((n for n, each in enumerate(self.steps) if each.offset <= offset), default=0)

    def _takings(self) -> dict[int, LockTaking]:
        """Return the places in the function that may take a lock, by the index of the instruction in `steps`.

        Each is a `LockTaking`. The places are the items of each `with`, whether a lock or anything else, and the calls
        of `acquire`. The expression (`node`) of an item of a `with` is None where it is unknown.
        """
        found: dict[int, LockTaking] = {}
        line = None
        for number, (step, stack) in enumerate(zip(self.steps, self.stacks)):
            line = symbols.line_of(step, line)
            top = stack[-1] if stack else None
            if step.opname in ENTERS and not str(step.argrepr).endswith("enter__"):
                awaited = "ASYNC" in step.opname or "aexit" in str(step.argrepr)
                found[number] = LockTaking(top, line or 0, awaited=awaited, inside=True)
            elif step.opname == "GET_AWAITABLE":
                node = symbols.receiver(symbols.without_time_limit(top), "acquire")
                found[number] = LockTaking(node, line or 0, awaited=True, inside=False)
            elif step.opname.startswith("CALL"):
                made = symbols.ast_call(step, stack)
                node = symbols.receiver(made, "acquire")
                following = self.steps[number + 1 : number + 2]
                if node and not (following and following[0].opname == "GET_AWAITABLE"):
                    found[number] = LockTaking(node, line or 0, awaited=False, inside=False)
        return {
            number: each for number, each in found.items() if each.node is not None or each.inside
        }

    # -- which `with` an instruction is inside of

    def entered(self, number: int) -> list[int]:
        """Return the indices of the `with` items in whose body an instruction is, the outermost first.

        `number` is the instruction's index; each result is a key of `takings`, or 0 where no item is found.
        """
        if not HAS_TABLE:
            inside = [
                each
                for each in self.blocks.get(number, ())
                if self.steps[each].opname in WITH_BLOCKS
            ]
            return [self._enter_before(each + 1) for each in inside]
        found: list[int] = []
        seen: set[int] = set()
        offset = self.steps[number].offset
        while (entry := self._entry(offset)) is not None and entry.target not in seen:
            seen.add(entry.target)
            handler = self.places[entry.target]
            if any(
                each.opname == "WITH_EXCEPT_START" for each in self.steps[handler : handler + 2]
            ):
                start = min(each.start for each in self.entries if each.target == entry.target)
                found.insert(0, self._enter_before(self.places[start]))
            offset = entry.target
        return found

    def _entry(self, offset: int) -> Any:
        return next((each for each in self.entries if each.start <= offset < each.end), None)

    def _enter_before(self, number: int) -> int:
        """Return the index of the last `with` item that is entered before the instruction `number`.

        0: there is none.
        """
        return max((n for n, each in self.takings.items() if each.inside and n < number), default=0)

    # -- what holds on every way

    def _states_before(self) -> dict[int, frozenset[tuple[str, int]]]:
        """Return for each reachable instruction, by index, which locks are taken before it on each path to it.

        These are sets of pairs: how (`held`: surely taken; `maybe`: a call with a limit whose result is not yet tested; `pending`: a call
        that is not yet awaited to its end) and the index in `takings`. As a side effect it fills `blocks`, which must be empty before.
        """
        known: dict[int, frozenset[tuple[str, int]]] = {0: frozenset()}
        self.blocks[0] = ()
        todo = [0]
        while todo:
            number = todo.pop()
            for target, state, blocks in self._next_instructions(number, known[number]):
                if target not in known or not known[target] <= state:
                    known[target] = known.get(target, state) & state
                    self.blocks.setdefault(target, blocks)
                    todo.append(target)
        return known

    def _next_instructions(self, number: int, state: frozenset[tuple[str, int]]) -> Any:
        """Yield each instruction that may run next, also after an exception or a jump: (index, state, blocks).

        `state` is, as in `_states_before`, which locks are taken there; the argument is the one before the instruction with the index
        `number`. `blocks` are the indices of the instructions that open the `try` and `with` blocks around it, the outermost first; empty
        where Python has an exception table instead (`HAS_TABLE`).
        """
        step, blocks = self.steps[number], self.blocks[number]
        after = self._state_after(number, state)
        entry = self._entry(step.offset) if HAS_TABLE else None
        if entry is not None:
            handler = self.places[entry.target]
            # What was thrown into an awaited call may have ended it well.
            ends = self.steps[handler].opname == "CLEANUP_THROW"
            yield handler, drop_kinds(state, "maybe", *[] if ends else ["pending"]), ()
        if blocks and self.steps[blocks[-1]].argval in self.places:
            handler = self.places[self.steps[blocks[-1]].argval]
            yield handler, drop_kinds(state, "maybe", "pending"), blocks[:-1]
        if step.opname in BLOCKS:
            blocks = (*blocks, number)
        elif step.opname == "POP_BLOCK":
            blocks = blocks[:-1]
        jumps = step.opcode in (*dis.hasjrel, *dis.hasjabs) and step.opname not in BLOCKS
        if jumps and step.argval in self.places:
            yield self.places[step.argval], state_after_jump(step.opname, after), blocks
        if number + 1 < len(self.steps) and not step.opname.startswith(ENDS):
            called = step.opname == "CALL_FINALLY"
            yield (
                number + 1,
                frozenset() if called else state_without_jump(step.opname, after),
                blocks,
            )

    def _state_after(
        self, number: int, state: frozenset[tuple[str, int]]
    ) -> frozenset[tuple[str, int]]:
        """Return the state behind the instruction with the index `number`, if it neither jumps nor raises.

        A state is a set of pairs: how a lock is taken, and the index in `takings` of the instruction that takes it.
        How is `held` (surely taken), `maybe` (by a call with arguments, such as a limit, whose result is not yet
        tested) or `pending` (by a call that is not yet awaited to its end). `state` is the one before the
        instruction; it is not changed. A `release`, or a change of the names in a lock's expression, removes what
        was taken by that expression. An instruction that is no part of a test removes all that is `maybe`, one that
        is no part of an await (`AWAITS`) all that is `pending`; `CLEANUP_THROW` makes `pending` `held`. What the
        instruction itself takes is added.
        """
        step, stack = self.steps[number], self.stacks[number]
        made = symbols.ast_call(step, stack) if step.opname.startswith("CALL") else None
        freed = symbols.receiver(made, "release")
        state = frozenset(
            (how, each)
            for how, each in state
            if not symbols.is_changed(self.takings[each].node, step)
            and not (
                freed and symbols.source_text(freed) == symbols.source_text(self.takings[each].node)
            )
        )
        if (
            step.opname not in ("TO_BOOL", "PRECALL", "CACHE", "NOP")
            and "POP_JUMP" not in step.opname
        ):
            state = drop_kinds(state, "maybe")
        if step.opname == "CLEANUP_THROW":
            state = mark_held(state, "pending")
        elif step.opname not in AWAITS:
            state = drop_kinds(state, "pending")
        taking = self.takings.get(number)
        if taking is None:
            return state
        limited = isinstance(made, ast.Call) and bool(made.args or made.keywords)
        how = (
            "held"
            if taking.inside
            else "pending"
            if taking.awaited
            else "maybe"
            if limited
            else "held"
        )
        return state | {(how, number)}


def drop_kinds(state: frozenset[tuple[str, int]], *kinds: str) -> frozenset[tuple[str, int]]:
    """Return the pairs of a state whose first part is none of `kinds` (`maybe`, `pending`)."""
    return frozenset(each for each in state if each[0] not in kinds)


def mark_held(state: frozenset[tuple[str, int]], kind: str) -> frozenset[tuple[str, int]]:
    """Return a state in which the pairs of this `kind` have become `held`."""
    return frozenset(("held" if how == kind else how, each) for how, each in state)


def state_after_jump(name: str, state: frozenset[tuple[str, int]]) -> frozenset[tuple[str, int]]:
    """Return the state where the instruction `name` has jumped.

    A result of `acquire` that was tested is known there.
    """
    if name == "SEND":
        return mark_held(state, "pending")
    return mark_held(state, "maybe") if name.endswith("IF_TRUE") else drop_kinds(state, "maybe")


def state_without_jump(name: str, state: frozenset[tuple[str, int]]) -> frozenset[tuple[str, int]]:
    """Return the state where the instruction `name` has not jumped."""
    if name == "YIELD_FROM":
        return mark_held(state, "pending")
    return mark_held(state, "maybe") if name.endswith("IF_FALSE") else state


def lock_flow_of(code: types.CodeType) -> Any:
    """Return what the instructions of a function say of locks, as a `LockFlow`, or None.

    None: it has no `with`, of a lock or anything else, and does not name `acquire`. The result is kept for later
    calls, for `MAX_KEPT` functions; then all are forgotten.
    """
    if code not in KEPT:
        if len(KEPT) >= MAX_KEPT:
            KEPT.clear()
        opcodes = {dis.opname[each] for each in code.co_code[::2]}
        takes = not opcodes.isdisjoint(ENTERS) or "acquire" in code.co_names
        KEPT[code] = LockFlow(code) if takes else None
    return KEPT[code]


def can_follow(frame: Any) -> bool:
    """Return whether a frame's function has begun, and is short enough (`MAX_CODE_BYTES`) to be followed."""
    return frame.f_lasti >= 0 and len(frame.f_code.co_code) <= MAX_CODE_BYTES


def locks_taken(frame: Any) -> tuple[list[LockTaking], list[LockTaking]]:
    """Return the places where the call of a frame has taken locks that are not released yet.

    The first list is of the `with` items around the frame's current instruction, the outermost first. Where
    it is not sure that an item still has its lock, such as because its names have changed since, `node` is
    None. The second list has the calls of `acquire` whose locks are surely taken, in the order of the code.
    Both are empty for a function without `with` and `acquire`, or that has not begun, or is too long to be followed.
    """
    found = lock_flow_of(frame.f_code) if can_follow(frame) else None
    if found is None:
        return [], []
    number = found.number(frame.f_lasti)
    sure = {each for how, each in found.known.get(number, ()) if how == "held"}
    inside: list[LockTaking] = []
    for each in found.entered(number):
        one = found.takings[each]
        node = one.node if each in sure else None
        inside.append(LockTaking(node, one.line, awaited=one.awaited, inside=True))
    return inside, [found.takings[each] for each in sorted(sure) if not found.takings[each].inside]


def lock_taken_now(frame: Any) -> tuple[Any, bool]:
    """Return the expression of the lock that a frame takes right now, and whether the call has arguments.

    The frame is one that waits in C code. The expression is a tree of `ast`: for a `with` its item, for a
    call of `acquire` or `__enter__` the object before that name, for another call the function that is
    called. None: the frame calls nothing, or what it does is unknown. The second value is True for any call
    with arguments, which may be a time limit; for a `with` it is False.
    """
    if not can_follow(frame):
        return None, False
    code = frame.f_code
    found = lock_flow_of(code) or (KEPT.update({code: LockFlow(code)}) or KEPT[code])
    number = found.number(frame.f_lasti)
    step, stack = found.steps[number], found.stacks[number]
    taking = found.takings.get(number)
    if taking is not None and taking.inside:
        return taking.node, False
    made = symbols.ast_call(step, stack) if step.opname.startswith("CALL") else None
    if not isinstance(made, ast.Call):
        return None, False
    for name in ("acquire", "__enter__"):
        if (node := symbols.receiver(made, name)) is not None:
            return node, bool(made.args or made.keywords)
    return made.func, bool(made.args or made.keywords)


LIBRARY = os.path.join(os.path.dirname(threading.__file__), "")
LOCKS = (
    "lock",
    "RLock",
    "_RLock",
    "Lock",
    "StrictFIFOLock",
    "Condition",
    "Semaphore",
    "BoundedSemaphore",
    "CapacityLimiter",
)
MODULES = ("_thread", "threading", "asyncio.locks", "trio", "anyio")
MAX_SEARCHED_ATTRIBUTES = 2000
"""Attributes of a frame's variables among which a value is looked for."""
MAX_SEARCHED_ITEMS = 1000
"""Items of a container in which a value is looked for."""
MAX_ARGUMENTS = 2
"""Arguments that are told of the call that gave a lock."""
MAX_ARGUMENT_CHARS = 40
PLAIN = (bool, bytes, float, int, str)
"""Types of arguments that are told."""
OWNER = re.compile(r"owner=(\d+)")
METHODS = {
    "threading.py": ("acquire", "__enter__", "wait", "wait_for", "join"),
    "queue.py": ("get", "put", "join"),
    "_base.py": ("result", "exception"),
    "subprocess.py": ("wait", "communicate"),
    "process.py": ("join",),
    "queues.py": ("get", "put", "join"),
    "locks.py": ("acquire", "wait", "wait_for"),
    "_sync.py": ("acquire", "acquire_on_behalf_of", "wait"),
    "_synchronization.py": ("acquire", "acquire_on_behalf_of", "wait"),
    "_asyncio.py": ("acquire", "acquire_on_behalf_of", "wait"),
    "_channel.py": ("send", "receive"),
    "_run.py": ("_nested_child_finished",),
    "_threads.py": ("to_thread_run_sync",),
    "_timeouts.py": ("sleep_until", "sleep_forever"),
    "tasks.py": ("sleep",),
}
"""Methods of Python's library in which a thread or a coroutine waits, by their files."""
NOT_SEARCHED = (("builtins", "module"), ("builtins", "function"), ("builtins", "type"))
"""Kinds of values in whose attributes no value is looked for."""
AWAITED_BY_METHOD = {"get": "an item", "receive": "an item", "put": "room", "send": "room"}
"""What one waits for in methods of queues and channels."""


def is_library(frame: Any) -> bool:
    """Return whether a frame runs code of Python's library, of trio or anyio, or of a file without folder."""
    if (frame.f_globals.get("__name__") or "").startswith(("trio.", "anyio.")):
        return True
    folder = os.path.dirname(frame.f_code.co_filename)
    is_inside = os.path.join(folder, "").startswith(LIBRARY)
    return (is_inside and "-packages" not in folder) or folder == ""


def waits_in(frame: Any) -> bool:
    """Return whether a frame is one of the library's methods that wait, as `METHODS` lists them."""
    file = os.path.basename(frame.f_code.co_filename)
    return is_library(frame) and frame.f_code.co_name in METHODS.get(file, ())


def lock_awaited_in_c(frame: Any) -> tuple[Any, str, bool]:
    """Return the lock that a frame takes now in C code, its name there, and whether the wait has a limit.

    The lock is None if there is none, or nobody holds it.
    """
    node, limited = lock_taken_now(frame)
    lock = lock_at(node, frame)
    if lock is None or "unlocked" in repr(lock):
        return None, "", False
    return lock, name_of(lock, frame) or symbols.source_text(node).lstrip("?"), limited


def locks_held(frames: list[Any], coroutines: dict[int, Any]) -> Iterator[tuple[Any, str]]:
    """Yield the locks that the calls of some frames have taken, each with `FILE:LINE` where it was taken.

    `coroutines` has the coroutines of suspended frames, by the id of the frame: these keep what ends their `with`.
    """
    for frame in itertools.filterfalse(is_library, frames):
        yield from locks_held_in(frame, coroutines.get(id(frame)))


def locks_held_in(frame: Any, coroutine: Any) -> Iterator[tuple[Any, str]]:
    """Yield the locks that the call of one frame holds, each with the place (text) where it was taken.

    These are locks, semaphores and conditions (as their lock) of known libraries, taken by `with` or by
    `acquire`. The place is `FILE:LINE`, perhaps with plain arguments of the call that gave the lock.
    `coroutine` is the suspended coroutine or generator of the frame, or None: from it the objects of the `with`
    items are taken, if their number fits. Only then are the locks found that a `contextlib` generator behind a
    `with` has taken, with their places in the generator. Any other lock is left out if its expression cannot
    be read, or if it is not sure that the call still holds it.
    """
    file = os.path.basename(frame.f_code.co_filename)
    inside, acquired = locks_taken(frame)
    exits = exit_methods_of(coroutine) if coroutine is not None and inside else []
    # It may be entering one more.
    kept = len(exits) in (len(inside), len(inside) + 1)
    for number, one in enumerate(inside):
        place = place_taken(one, file, frame)
        if kept:
            yield from locks_of_manager(exits[number].__self__, place)
        elif (lock := lock_at(one.node, frame)) is not None:
            yield lock, place
    for one in acquired:
        lock = lock_at(one.node, frame)
        if lock is not None and one.awaited == is_of_tasks(lock):
            yield lock, place_taken(one, file, frame)


def place_taken(taking: LockTaking, file: str, frame: Any) -> str:
    """Return where a frame has taken a lock, and the arguments that gave it: `FILE:LINE (order.id = 7)`."""
    arguments = arguments_at(taking.node, frame)
    return f"{file}:{taking.line}" + (f" ({arguments})" if arguments else "")


def requested_with(frame: Any) -> str:
    """Return the plain arguments of the call on a frame's current line that gave the lock it waits for.

    They are as `arguments_at` has them. Empty: there is none, or the line takes several locks.
    """
    known = lock_flow_of(frame.f_code)
    every = known.takings.values() if known is not None else ()
    here = [one.node for one in every if one.line == frame.f_lineno]
    return arguments_at(here[0], frame) if len(here) == 1 else ""


def arguments_at(node: Any, frame: Any) -> str:
    """Return the plain variables in the call that gave a lock, such as `order.id = 7`, joined by commas.

    `node` is the tree of the lock's expression, `frame` has the variables as they are now. Of the call's positional
    arguments those are told whose values are numbers, texts and the like, but not constants; at most
    `MAX_ARGUMENTS`, and a long text is cut to `MAX_ARGUMENT_CHARS` characters. The result is empty if `node` is no
    call, or has no such argument.
    """
    told: list[str] = []
    for each in node.args if isinstance(node, ast.Call) else ():
        try:
            value = paths.read_expression(each, frame)
        except LookupError:
            continue
        if not isinstance(each, ast.Constant) and type(value) in PLAIN:
            told.append(
                f"{symbols.source_text(each)} = {held.value_text(value, MAX_ARGUMENT_CHARS, ())}"
            )
    return ", ".join(told[:MAX_ARGUMENTS])


def exit_methods_of(coroutine: Any) -> list[Any]:
    """Return the bound exit methods of the `with` items that a suspended coroutine has entered.

    The outermost is first. `coroutine` is the coroutine or generator. The list is empty if no `with` was entered.
    An item that is just being entered may be in the list, and so may an exit method that a local variable holds:
    callers compare the length with what they expect.
    """
    names = ("__exit__", "__aexit__")
    methods = (types.MethodType, types.BuiltinMethodType)
    parts = awaiting.referents(coroutine)
    # Up to Python 3.10 the frame has them.
    frame = awaiting.frame_of(coroutine)
    parts += [] if HAS_TABLE else awaiting.referents(frame)
    return [each for each in parts if type(each) in methods and each.__name__ in names]


def locks_of_manager(manager: Any, place: str) -> Iterator[tuple[Any, str]]:
    """Yield the lock that the object of a `with` is, or those that the generator behind it has taken.

    `manager` is the object of the `with`. If `contextlib.contextmanager` (or its async form) has made it, the
    locks that its generator holds are yielded, each with the place in the generator where it was taken;
    nothing if the generator is over. A lock, semaphore or condition (as its lock) of a known library is
    yielded with `place`, the text that tells where the `with` is. Any other object yields nothing.
    """
    module, kind = paths.kind_of(manager)
    if module == "contextlib" and kind.endswith("GeneratorContextManager"):
        step = awaiting.raw_attribute(manager, "gen")
        frame = awaiting.frame_of(step)
        if frame is not None:
            yield from locks_held_in(frame, step)
    elif (lock := as_lock(manager)) is not None:
        yield lock, place


def lock_at(node: Any, frame: Any) -> Any:
    """Return the lock that an expression stands for in a frame; for a condition, its lock.

    The bound method `acquire` or `__enter__` of a lock written in C stands for the lock, too; a method written in
    Python, as a semaphore's, gives None. The result is also None if the expression stands for no lock of a known
    library, or cannot be read without code of the program, none of which runs. `node` is the expression as a node
    of `ast`; None gives None.
    """
    try:
        found = paths.read_expression(node, frame) if node is not None else None
    except LookupError:
        return None
    if type(found) is types.BuiltinMethodType and found.__name__ in ("acquire", "__enter__"):
        found = found.__self__
    return as_lock(found)


def as_lock(found: Any) -> Any:
    """Return a lock or semaphore of a known library itself, or the lock of a condition; None for all else."""
    module, kind = paths.kind_of(found)
    if not module.startswith(MODULES) or kind not in LOCKS:
        return None
    return raw_attributes(found).get("_lock", found) if kind == "Condition" else found


def is_of_tasks(lock: Any) -> bool:
    """Return whether tasks, not threads, wait for a lock."""
    return not paths.kind_of(lock)[0].startswith(("_thread", "threading"))


def waits_for_condition_of(frames: list[Any], lock: Any) -> bool:
    """Return whether one of the frames waits for the condition of a lock, and so has released that lock.

    `frames` are those of one thread or task, `lock` is the lock itself, not the condition.
    """
    for frame in frames:
        own = frame.f_locals.get("self") if frame.f_code.co_name == "wait" else None
        if (
            own is not None
            and paths.kind_of(own)[1] == "Condition"
            and raw_attributes(own).get("_lock") is lock
        ):
            return True
    return False


def owner_of(lock: Any) -> Any:
    """Return the task, or the number of the thread, that Python knows to hold a lock.

    None, or the number 0: nobody holds it, or Python does not know who. A number is `Thread.ident`. Only reentrant locks, and locks of trio
    and anyio, know their holder.
    """
    module, kind = paths.kind_of(lock)
    if module == "_thread":
        owner = OWNER.search(repr(lock))
        return int(owner[1]) if owner else None
    if kind == "_RLock" or module.startswith("trio"):
        return awaiting.raw_attribute(lock, "_owner")
    return awaiting.raw_attribute(lock, "_owner_task") if module.startswith("anyio") else None


def limit_of(lock: Any) -> Any:
    """Return how many may hold a semaphore at once; None if it does not tell."""
    for name in ("_initial_value", "_bound_value", "_max_value"):
        limit = awaiting.raw_attribute(lock, name)
        if limit is not None:
            return limit
    return None


def borrowers_of(limiter: Any) -> list[Any]:
    """Return the tasks, and what stands for threads, that have a token of a limiter."""
    found: Any = awaiting.raw_attribute(limiter, "_borrowers")
    kind: Any = type(found)  # pyright: ignore[reportUnknownVariableType]
    return [*found] if kind is set else []


def total_of(limiter: Any) -> Any:
    """Return how many tokens a limiter of trio or anyio has."""
    return awaiting.raw_attribute(limiter, "_total_tokens")


def shared_queues(frames: list[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each queue between processes that frames of a thread or task have, once, innermost first.

    Each is a triple of texts: the pipe's id (`DEVICE:INODE`, the same in all processes that have the queue),
    the name of the variable or attribute in the frame, and the place `FILE:LINE in FUNCTION`, FILE without its
    folder. The local variables of `frames`, innermost first, and up to `MAX_SEARCHED_ATTRIBUTES` attributes of
    their values in each frame are searched; frames of libraries and closed queues are skipped.
    """
    seen: set[str] = set()
    for frame in itertools.filterfalse(is_library, frames):
        local = {**frame.f_locals}
        named = [
            *local.items(),
            *itertools.islice(named_attributes_of(local), MAX_SEARCHED_ATTRIBUTES),
        ]
        for name, each in named:
            if not paths.kind_of(each)[0].startswith("multiprocessing"):
                continue
            mine = raw_attributes(each)
            pipe = pools.pipe_of(mine) if pools.is_shared(mine) else ""
            if pipe and pipe not in seen:
                seen.add(pipe)
                file = os.path.basename(frame.f_code.co_filename)
                yield pipe, name, f"{file}:{frame.f_lineno} in {frame.f_code.co_name}"


# -- objects of Python's library


def raw_attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object by name, without code of its class."""
    return held.attributes(value, type(value))


def name_of(value: Any, frame: Any) -> str:
    """Return an expression by which a frame's code may name a value; empty if none is found.

    The value is looked for, by identity, among the frame's local and global variables, the attributes of
    local variables and the attributes of those, the items of all these (a dict's item is named by its key),
    and the attributes of global variables. A name as an item wins over that of a local variable. The lock of
    a `Condition` that is an attribute gets the condition's name. The search is limited, so a deep value may
    have no name.
    """
    local = {**frame.f_locals}
    named = [*local.items(), *[*frame.f_globals.items()]]
    attributes = [*itertools.islice(named_attributes_of(local), MAX_SEARCHED_ATTRIBUTES)]
    found = next((name for name, each in named if each is value), "")
    found = found or next((name for name, each in attributes if is_or_has(each, value)), "")
    if not found or found in local:
        # Most locks are nearer, so nothing is looked up for them here.
        inner = named_attributes_of(dict(attributes))
        attributes += itertools.islice(inner, MAX_SEARCHED_ATTRIBUTES)
        found = found or next((name for name, each in attributes if is_or_has(each, value)), "")
    if not found or found in local:
        items = (
            f"{name}[{key}]" for name, each in [*named, *attributes] for key in keys_of(value, each)
        )
        found = next(items, found)
    if not found:
        others = itertools.islice(named_attributes_of(frame.f_globals), MAX_SEARCHED_ATTRIBUTES)
        found = next((name for name, each in others if is_or_has(each, value)), "")
    return found


def named_attributes_of(space: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each attribute of some variables, named as `VARIABLE.ATTRIBUTE`.

    `space` is a dict of variables by name; nothing is yielded for those that are modules, Python functions,
    or classes without a metaclass of their own. No code of the values' classes is run. An attribute whose
    name has its object's class before `__`, such as `_Lock__lock` of a library's wrapper, is named by
    `VARIABLE` alone: the program knows only the wrapper.
    """
    for name, each in [*space.items()]:
        if paths.kind_of(each) in NOT_SEARCHED:
            continue
        for inner, one in raw_attributes(each).items():
            # A library's object around it is known by its own name.
            yield (name if f"{type(each).__name__}__" in inner else f"{name}.{inner}"), one


def is_or_has(one: Any, value: Any) -> bool:
    """Return whether `one` is the value that is looked for, or a condition whose lock that is."""
    return one is value or (type(one).__name__ == "Condition" and as_lock(one) is value)


def keys_of(value: Any, container: Any) -> Iterator[str]:
    """Yield the index or key, as text, of each place at which a list, tuple or dictionary has a value.

    It yields nothing for other containers, or those of more than `MAX_SEARCHED_ITEMS`.
    """
    kind: Any = type(container)  # pyright: ignore[reportUnknownVariableType]
    if kind not in (list, tuple, dict) or len(container) > MAX_SEARCHED_ITEMS:
        return
    items = [*container.items()] if kind is dict else enumerate(container)
    yield from (held.value_text(key, 40, ()) for key, each in items if each is value)


def size_of(queue: dict[str, Any]) -> Any:
    """Return how many items a queue has; `queue` are the attributes of it; None if unknown."""
    items: Any = next((queue[each] for each in QUEUED if each in queue), None)
    kind: Any = type(items)  # pyright: ignore[reportUnknownVariableType]
    return len(items) if kind is list or kind is collections.deque else None


QUEUED = ("queue", "_queue", "data", "buffer")
"""Attributes that have the items of a queue or channel, in several libraries."""


STATES = {
    "Semaphore": "its value is {_value}",
    "CapacityLimiter": "all of its {_total_tokens} tokens are borrowed",
    "Barrier": "{_count} of {_parties} have come",
    "Process": "for the end of process {pid}",
    "Event": "it is not set",
    "Condition": "to be notified",
}
"""By class, why one waits for its objects; one between processes may lack the attributes named here."""


def state_of(kind: str, function: str, mine: dict[str, Any]) -> str:
    """Return in words why one waits for an object of a library; empty if it does not show.

    `kind` is the name of its class, `function` the name of the method in which one waits, `mine` a dict of its attributes.

    >>> state_of("Barrier", "wait", {"_count": 1, "_parties": 2})
    '1 of 2 have come'
    >>> state_of("Barrier", "wait", {"_parties": 2, "_state": "of several processes"})
    ''
    """
    if "Queue" in kind or "Channel" in kind:
        return state_of_queue(function, mine)
    if kind == "Popen" or kind.endswith("Process"):
        kind, mine = "Process", raw_attributes(mine["_popen"]) if "_popen" in mine else mine
    try:
        return STATES["Semaphore" if "Semaphore" in kind else kind].format_map(mine)
    except KeyError:
        return ""


def state_of_queue(function: str, attributes: dict[str, Any]) -> str:
    """Return as text what a caller of a queue's or channel's method waits for, and how full the queue is.

    `function` is the method's name: `get` and `receive` wait for an item, `put` and `send` for room, and any
    other name, such as `join`, waits for the items to be done. `attributes` are the raw attributes of the queue
    or channel, by name. The result is for instance `for room; it is full, 3 of 3`. The number of items is left
    out where it is unknown.

    >>> state_of_queue("get", {"queue": [], "maxsize": -1}), state_of_queue("get", {})
    ('for an item; it is empty', 'for an item')
    >>> state_of_queue("put", {"queue": [1], "maxsize": 1})
    'for room; it is full, 1 of 1'
    """
    what = AWAITED_BY_METHOD.get(function, "its items to be done")
    queue = raw_attributes(attributes["_state"]) if "_state" in attributes else attributes
    limits = ("maxsize", "_maxsize", "max_buffer_size")
    limit: Any = next((queue[each] for each in limits if each in queue), 0)
    # A queue with a negative one has none.
    limit = limit if type(limit) in (int, float) and limit > 0 else 0
    size: Any = size_of(queue)
    if pools.is_shared(attributes):
        size, limit = pools.size_of(attributes), pools.bound_of(attributes)
    if size is None:
        return f"for {what}" + (f"; its bound is {limit}" if limit else "")
    of = f" of {limit}" if limit or "_state" in attributes else ""
    if what == "room" and limit and size >= limit:
        return f"for room; it is full, {size}{of}"
    if what == "an item" and not size:
        return "for an item; it is empty" + (of and f", {size}{of}")
    return f"for {what}; it holds {size}{of}"


def function_name(function: Any) -> str:
    """Return the qualified name of a function of Python; `a function` for anything else."""
    known = type(function) is types.FunctionType
    return function.__qualname__ if known else "a function"
