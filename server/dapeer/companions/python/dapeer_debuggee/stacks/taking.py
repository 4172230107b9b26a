"""Finds by its instructions which lock a call takes now, and which it has surely taken.

A line is no proof: in `with lock: time.sleep(60)` one line takes the lock and sleeps in it. Instructions are one. Nothing is run.
"""

from __future__ import annotations

import ast
import dis
import itertools
import sys
import types
from typing import Any

from . import symbols

MAX_INSTRUCTIONS = 20_000
"""Instructions of a function that are followed."""
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


class Taking:
    """A place in a function that takes a lock: an item of a `with`, or a call of `acquire`."""

    def __init__(self, node: Any, line: int, *, awaited: bool, inside: bool) -> None:
        self.node, self.line = node, line
        self.awaited = awaited
        """Whether the lock is one of tasks."""
        self.inside = inside
        """Whether it is held until a `with` ends."""


class Followed:
    """The instructions of a function, and what each of them may rely on."""

    def __init__(self, code: types.CodeType) -> None:
        self.steps = [*itertools.islice(dis.get_instructions(code), MAX_INSTRUCTIONS)]
        self.places = {each.offset: number for number, each in enumerate(self.steps)}
        self.stacks = symbols.stacks(self.steps)
        self.blocks: dict[int, tuple[int, ...]] = {}
        listing: Any = dis.Bytecode(code)
        self.entries: Any = listing.exception_entries if HAS_TABLE else ()
        self.takings = self._takings()
        self.known = self._follow()

    def number(self, offset: int) -> int:
        """Return the index in `steps` of the instruction at an offset, or in whose cache that offset is."""
        return max((n for n, each in enumerate(self.steps) if each.offset <= offset), default=0)

    def _takings(self) -> dict[int, Taking]:
        """Return a dict of each place that takes a lock (`Taking`), by the index of its instruction.

        An item of a `with` is in it also where its expression (`node`) is unknown.
        """
        found: dict[int, Taking] = {}
        line = None
        for number, (step, stack) in enumerate(zip(self.steps, self.stacks)):
            line = symbols.line_of(step, line)
            top = stack[-1] if stack else None
            if step.opname in ENTERS and not str(step.argrepr).endswith("enter__"):
                awaited = "ASYNC" in step.opname or "aexit" in str(step.argrepr)
                found[number] = Taking(top, line or 0, awaited=awaited, inside=True)
            elif step.opname == "GET_AWAITABLE":
                node = symbols.receiver(symbols.limited(top), "acquire")
                found[number] = Taking(node, line or 0, awaited=True, inside=False)
            elif step.opname.startswith("CALL"):
                made = symbols.call(step, stack)
                node = symbols.receiver(made, "acquire")
                following = self.steps[number + 1 : number + 2]
                if node and not (following and following[0].opname == "GET_AWAITABLE"):
                    found[number] = Taking(node, line or 0, awaited=False, inside=False)
        return {
            number: each for number, each in found.items() if each.node is not None or each.inside
        }

    # -- which `with` an instruction is inside of

    def entered(self, number: int) -> list[int]:
        """Return the indices of the `with` items in whose body an instruction is, the outermost first.

        `number` is the instruction's index; each result is a key of `takings`.
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

    def _follow(self) -> dict[int, frozenset[tuple[str, int]]]:
        """Return for each reachable instruction, by index, what is so before it on each path to it.

        This is a set of pairs: how a lock is taken (`held`, `maybe`, `pending`) and the index in `takings`. As a side effect it fills
        `blocks`.
        """
        known: dict[int, frozenset[tuple[str, int]]] = {0: frozenset()}
        self.blocks[0] = ()
        todo = [0]
        while todo:
            number = todo.pop()
            for target, state, blocks in self._ways(number, known[number]):
                if target not in known or not known[target] <= state:
                    known[target] = known.get(target, state) & state
                    self.blocks.setdefault(target, blocks)
                    todo.append(target)
        return known

    def _ways(self, number: int, state: frozenset[tuple[str, int]]) -> Any:
        """Yield each instruction that may run next: its index, the state there, and its blocks.

        These are the `try` and `with` blocks around it. `number` is the index of the instruction, `state` what is so before it.
        """
        step, blocks = self.steps[number], self.blocks[number]
        after = self._after(number, state)
        entry = self._entry(step.offset) if HAS_TABLE else None
        if entry is not None:
            handler = self.places[entry.target]
            # What was thrown into an awaited call may have ended it well.
            ends = self.steps[handler].opname == "CLEANUP_THROW"
            yield handler, drop_kinds(state, "maybe", *[] if ends else ["pending"]), ()
        if blocks:
            handler = self.places.get(self.steps[blocks[-1]].argval)
            yield handler, drop_kinds(state, "maybe", "pending"), blocks[:-1]
        if step.opname in BLOCKS:
            blocks = (*blocks, number)
        elif step.opname == "POP_BLOCK":
            blocks = blocks[:-1]
        jumps = step.opcode in (*dis.hasjrel, *dis.hasjabs) and step.opname not in BLOCKS
        if jumps and step.argval in self.places:
            yield self.places[step.argval], on_jump(step.opname, after), blocks
        if number + 1 < len(self.steps) and not step.opname.startswith(ENDS):
            called = step.opname == "CALL_FINALLY"
            yield number + 1, frozenset() if called else on_next(step.opname, after), blocks

    def _after(self, number: int, state: frozenset[tuple[str, int]]) -> frozenset[tuple[str, int]]:
        """Return the state behind the instruction with the index `number`, if it neither jumps nor raises.

        A state is a set of pairs: how a lock is taken (`held`, `maybe`, `pending`) and the index in `takings`; `state` is the one before
        it. A `release`, or a change of the names in a lock's expression, removes what was taken by that.
        """
        step, stack = self.steps[number], self.stacks[number]
        made = symbols.call(step, stack) if step.opname.startswith("CALL") else None
        freed = symbols.receiver(made, "release")
        state = frozenset(
            (how, each)
            for how, each in state
            if not symbols.is_changed(self.takings[each].node, step)
            and not (freed and symbols.text(freed) == symbols.text(self.takings[each].node))
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


def on_jump(name: str, state: frozenset[tuple[str, int]]) -> frozenset[tuple[str, int]]:
    """Return the state where the instruction `name` has jumped.

    A result of `acquire` that was tested is known there.
    """
    if name == "SEND":
        return mark_held(state, "pending")
    return mark_held(state, "maybe") if name.endswith("IF_TRUE") else drop_kinds(state, "maybe")


def on_next(name: str, state: frozenset[tuple[str, int]]) -> frozenset[tuple[str, int]]:
    """Return the state where the instruction `name` has not jumped."""
    if name == "YIELD_FROM":
        return mark_held(state, "pending")
    return mark_held(state, "maybe") if name.endswith("IF_FALSE") else state


def followed(code: types.CodeType) -> Any:
    """Return what the instructions of a function say of locks, as a `Followed`; None: it takes no lock.

    The result is kept for later calls.
    """
    if code not in KEPT:
        if len(KEPT) >= MAX_KEPT:
            KEPT.clear()
        opcodes = {dis.opname[each] for each in code.co_code[::2]}
        takes = not opcodes.isdisjoint(ENTERS) or "acquire" in code.co_names
        KEPT[code] = Followed(code) if takes else None
    return KEPT[code]


def takings(frame: Any) -> tuple[list[Taking], list[Taking]]:
    """Return what the call of a frame has surely taken: by `with` around it, and by `acquire`.

    Both are lists, the outermost first. Of a `with` item that is not sure, such as because its names have changed since, `node` is None.
    """
    found = followed(frame.f_code)
    if found is None or frame.f_lasti < 0:
        return [], []
    number = found.number(frame.f_lasti)
    sure = {each for how, each in found.known.get(number, ()) if how == "held"}
    inside: list[Taking] = []
    for each in found.entered(number):
        one = found.takings[each]
        node = one.node if each in sure else None
        inside.append(Taking(node, one.line, awaited=one.awaited, inside=True))
    return inside, [found.takings[each] for each in sorted(sure) if not found.takings[each].inside]


def taking_now(frame: Any) -> tuple[Any, bool]:
    """Return the expression of the lock that a frame takes now in C code, and if that has arguments.

    The expression is a tree of `ast`; arguments may be a limit of time. Where it calls something else than `acquire`, the expression is
    what it calls; None: it takes or calls nothing.
    """
    if frame.f_lasti < 0:
        return None, False
    code = frame.f_code
    found = followed(code) or (KEPT.update({code: Followed(code)}) or KEPT[code])
    number = found.number(frame.f_lasti)
    step, stack = found.steps[number], found.stacks[number]
    taking = found.takings.get(number)
    if taking is not None and taking.inside:
        return taking.node, False
    made = symbols.call(step, stack) if step.opname.startswith("CALL") else None
    if not isinstance(made, ast.Call):
        return None, False
    for name in ("acquire", "__enter__"):
        if (node := symbols.receiver(made, name)) is not None:
            return node, bool(made.args or made.keywords)
    return made.func, bool(made.args or made.keywords)
