"""The variables at a stop, as far as they were fetched. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from dapeer.base.text.fitting import fitted, shortened, with_elements
from dapeer.dap.messages import Body
from dapeer.dap.types import Scope, Variable

# The first members of values that an adapter shows folded, and how the values read with them. Pure.

MAX_CONTAINERS = 100
"""Containers that are expanded to show one value; some contain the same one many times."""
MAX_LEVELS = 30
"""Containers in each other that are expanded to show one value."""
FIRST_MEMBERS = 40
"""First members of a container that are kept, at most."""
UNFOLDED_TEXT = 8000
"""Characters that the members of a container share: more than any tool shows of a value."""

_ELEMENT = re.compile(r"""-?\d|\[(?!\[|raw\])|[bru]{0,2}['"]|[(:](?=.)|(?:None|True|False)\Z""")
"""How the name of an element begins: its index or its key, as the languages write them."""

_Inside = tuple[Sequence[tuple[str, str]], int]


@dataclass(slots=True)
class UnfoldedValues:
    """What was fetched of the folded values at one stop.

    An adapter may send thousands of variables, in each other and again and again: whatever it sends, the work grows
    with its size only.
    """

    first_children: dict[int, list[Variable]] = field(default_factory=dict[int, list[Variable]])
    """The first children of folded values, by variablesReference."""
    reported_members: dict[int, str] = field(default_factory=dict[int, str])
    """Members that the program itself has reported, by variablesReference; `take_reported` adds to them."""
    _insides: dict[int, _Inside] = field(default_factory=dict[int, _Inside])
    """What `_cached_members` returns, by variablesReference."""
    _briefs: dict[tuple[int, str, int], str] = field(
        default_factory=dict[tuple[int, str, int], str]
    )
    """What `brief` returns, by variablesReference, value and limit."""

    def __bool__(self) -> bool:
        """Whether anything was fetched."""
        return bool(self.first_children or self.reported_members)

    def keep_members(self, reference: int, variables: Sequence[Variable], count: int) -> None:
        """Keep the first members of a folded value, without those that are not data (`is_no_data`).

        `reference` is its variablesReference; `variables` are its children from the first on. At most `count`, and at most
        `FIRST_MEMBERS`, are kept, although an adapter may send more.
        """
        members = [each for each in variables if not is_no_data(each)]
        self.first_children[reference] = members[: min(count, FIRST_MEMBERS)]
        self._outdate()

    def shown(self, variable: Variable) -> str:
        """Return a variable's value as text.

        If the adapter shows it folded, the text has its first members, as far as fetched. Members that the program itself has
        reported replace the adapter's value.
        """
        reference = variable["variablesReference"]
        if reference in self.reported_members:
            return self.reported_members[reference]
        members, _ = self._cached_members(reference)
        return with_elements(variable["value"], members) if members else variable["value"]

    def brief(self, variable: Variable, limit: int) -> str:
        """Return the text of `shown` in about `limit` characters.

        The text of a container is computed once for each `variablesReference`, value and limit, until something
        more is fetched.
        """
        if not variable["variablesReference"]:
            return adapters_value(variable, limit)
        key = variable["variablesReference"], variable["value"], limit
        if key not in self._briefs:
            self._briefs[key] = fitted(self.shown(variable), limit)
        return self._briefs[key]

    def _cached_members(self, reference: int) -> tuple[Sequence[tuple[str, str]], int]:
        """Return what `_members` finds of a container, and how many containers were expanded for that.

        Members are pairs of name and value. It is computed once for each container: thousands of variables may have the same.
        """
        if reference not in self._insides:
            done: list[int] = []
            self._insides[reference] = self._members(reference, (), done), len(done)
        return self._insides[reference]

    def _members(
        self, reference: int, enclosing: tuple[int, ...], done: list[int]
    ) -> list[tuple[str, str]]:
        """Return name and value of a container's first members, the values with their own members in them.

        `enclosing` are the references of the containers that it is in: one inside itself has no members. Each
        container that is expanded is appended to `done`; at `MAX_CONTAINERS` of these, or `MAX_LEVELS` around it, the
        result is empty. Each name and each value is cut to about an equal share of `UNFOLDED_TEXT` for each member.
        The members are those that `keep_members` has kept; without such the result is empty. Nothing is sent.
        """
        first = self.first_children.get(reference)
        enough = len(done) >= MAX_CONTAINERS or len(enclosing) >= MAX_LEVELS
        if not first or enough or reference in enclosing:
            return []
        done.append(reference)
        inner, room = (*enclosing, reference), UNFOLDED_TEXT // len(first)
        return [
            (shortened(each["name"], room), _within(self._unfolded(each, inner, done), room))
            for each in first
        ]

    def _unfolded(self, variable: Variable, enclosing: tuple[int, ...], done: list[int]) -> str:
        """Return a member's value as text, with its own members where they were fetched.

        `enclosing` are the references of the containers that it is in; references of containers that are expanded
        for it are appended to `done`. If the program itself has told the member's text (`reported_members`), that
        text is returned instead, and only the member's own reference is appended.
        """
        reference = variable["variablesReference"]
        if reference in self.reported_members:
            done.append(reference)
            return self.reported_members[reference]
        members = self._members(reference, enclosing, done) if reference else ()
        return with_elements(variable["value"], members) if members else variable["value"]

    def members_of(self, variable: Variable) -> list[Variable]:
        """Return the first members that were fetched of a folded variable; empty if none were."""
        return self.first_children.get(variable["variablesReference"], [])

    def take_reported(self, members: Mapping[int, str]) -> None:
        """Add texts that the program printed of containers, by variablesReference.

        They replace the adapter's values.
        """
        self.reported_members |= members
        self._outdate()

    def forget(self) -> None:
        """Drop all fetched and reported members, since a write may have changed them."""
        self.first_children.clear()
        self.reported_members.clear()
        self._outdate()

    def _outdate(self) -> None:
        """Empty the caches of computed texts and members."""
        self._insides.clear()
        self._briefs.clear()

    def expanded_count(self, variable: Variable) -> int:
        """Return how many containers were expanded to show a variable; 0 if its value is the adapter's own."""
        reference = variable["variablesReference"]
        return 1 if reference in self.reported_members else self._cached_members(reference)[1]


def adapters_value(variable: Variable, limit: int) -> str:
    """Return the adapter's own value of a variable, in at most `limit` characters."""
    return fitted(variable["value"], limit)


def _within(value: str, max_chars: int) -> str:
    """Return a text, fitted into `max_chars` if it is longer."""
    return value if len(value) <= max_chars else fitted(value, max_chars)


def is_element(variable: Variable) -> bool:
    """Whether a child is an element of its container, by its name; the others are members.

    >>> [is_element(Variable(name=n, value="", variablesReference=0)) for n in ("007", "[7]", "'key'", "(1, 2)")]
    [True, True, True, True]
    >>> [is_element(Variable(name=n, value="", variablesReference=0)) for n in ("len()", "[[Prototype]]", "@a", "[raw]")]
    [False, False, False, False]
    """
    return bool(_ELEMENT.match(variable["name"]))


def is_no_data(variable: Variable) -> bool:
    """Return whether a member is not data: a length, internal property, getter, method, class or group.

    A group is one that an adapter makes of members, such as debugpy's of methods: it has neither value nor
    type. The forms are those of js-debug, debugpy and rdbg.
    """
    name, value = variable["name"], variable["value"]
    computed = variable.get("presentationHint", {}).get("lazy")
    # debugpy adds the length, and puts methods into groups.
    if name == "len()" or not (value or variable.get("type")):
        return True
    internal = name.startswith("[[") or name == "#class"
    return bool(computed) or internal or value.startswith(("ƒ ", "async ƒ ", "class "))


KEPT_VARIABLES = 1000
KEPT_VALUE = 400
"""Characters of a value that outlive their stop."""
_REWRITTEN = "@py_"
"""Prefix of the names that pytest gives to the parts of an assertion."""
_SHOWN = frozenset({"arguments", "locals", "returnValue"})
"""Hints of adapters at scopes of which a person looks at all variables."""
_MODULE = "Module"
"""How js-debug names the scope of an ES module, which it calls expensive."""


WrittenValues = dict[tuple[int, str], tuple[str, Variable]]
_WRITTEN = ("value", "type", "variablesReference")  # from the response to `setVariable`


GETTER = "(getter: ask for it by its path)"
"""Shown in place of a value that only code of the program computes."""


@dataclass(slots=True)
class Values:
    """The scopes of frames, and the children of scopes and variables."""

    scopes: dict[int, list[Scope]] = field(default_factory=dict[int, list[Scope]])
    """Scopes by frame id."""
    variables: dict[int, list[Variable]] = field(default_factory=dict[int, list[Variable]])
    """Children by variablesReference."""
    stale_locals: list[Variable] | None = None
    """The locals of the first frame to look at, where their reference is now another frame's."""
    unfolded: UnfoldedValues = field(default_factory=UnfoldedValues)
    """The first members of folded values."""
    element_counts: dict[int, int] = field(default_factory=dict[int, int])
    """Containers' numbers of elements (DAP: `indexedVariables`), by variablesReference, where known."""
    lazy_references: set[int] = field(default_factory=set[int])
    """References of lazy variables: a request for their children computes them, as a getter does."""
    outdated_references: set[int] = field(default_factory=set[int])
    """Of these containers the children may have changed since they were fetched."""
    written_values: WrittenValues = field(default_factory=WrittenValues)
    """By variablesReference and name, the variables that were set: the value before, and the variable now."""
    expanded_locals: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    """The locals that were expanded, by name: how many containers, and the adapter's own value."""
    is_settled: bool = False
    """Whether the program has resumed, and the locals are those kept for history."""

    def local_scopes(self, frame_id: int) -> list[Scope]:
        """Return the scopes of a frame whose variables are shown as its locals.

        Expensive scopes and registers are left out, except a scope `Module` (of JavaScript) in a frame that has no
        local scope. Of the others, those are returned that the adapter hints as arguments, locals or return value, or
        that are named `Module`; else those whose names begin with "local" or "arg"; else the first that is not global.
        The list is empty if there is none of these, or none were fetched.
        """
        known = self.scopes.get(frame_id, ())
        # In JavaScript the variables of a module are those of its statements outside of functions.
        outermost = not any(scope["name"].startswith("Local") for scope in known)
        scopes = [
            scope
            for scope in known
            if (outermost and scope["name"] == _MODULE)
            or not (scope.get("expensive") or scope.get("presentationHint") == "registers")
        ]
        if hinted := [
            scope
            for scope in scopes
            if scope.get("presentationHint") in _SHOWN or scope["name"] == _MODULE
        ]:
            return hinted
        named = [s for s in scopes if s["name"].lower().startswith(("local", "arg"))]
        # GDB has no scope of locals where a function has none.
        return named or [s for s in scopes if not s["name"].lower().startswith("global")][:1]

    def keep_scopes(self, frame_id: int, scopes: list[Scope], top: int | None) -> None:
        """Keep the scopes of a frame; `top` is the id of the frame that is looked at first, None if unknown.

        lldb-dap gives the scopes of all frames the same references, which then stand for the frame that was asked
        for last: the scopes of other frames that share a reference with `scopes` are removed, with the variables by
        all references of `scopes`. If `top` is one of these frames, its locals are put into `stale_locals` before.
        """
        references = {scope["variablesReference"] for scope in scopes}
        for other, known in list(self.scopes.items()):
            if other != frame_id and any(s["variablesReference"] in references for s in known):
                if other == top:
                    self.stale_locals = self.locals(other)
                del self.scopes[other]
                for reference in references:
                    self.variables.pop(reference, None)
        self.scopes[frame_id] = scopes

    def top_locals(self, top: int) -> list[Variable]:
        """Return the locals of the frame with id `top`, which is looked at first, as far as fetched.

        They are those in `stale_locals` if the references of its scopes have come to stand for another frame.
        """
        if self.stale_locals is not None and top not in self.scopes:
            return self.stale_locals
        return self.locals(top)

    def locals(self, frame_id: int) -> list[Variable]:
        """Return the variables of a frame's local scopes, as far as fetched, in the adapter's order.

        `local_scopes` says which scopes these are: also that of a returned value, and of a JavaScript module in a frame
        outside of functions. Names that pytest gives to parts of an assertion are left out.
        """
        return [
            variable
            for scope in self.local_scopes(frame_id)
            for variable in self.variables.get(scope["variablesReference"], ())
            if not variable["name"].startswith(_REWRITTEN)
        ]

    def argument_names(self, frame_id: int) -> set[str]:
        """Return the names of a frame's arguments, as far as its scopes and variables were fetched.

        The set is empty if nothing was fetched of the frame, or if the adapter gives its arguments no scope of
        their own. `frame_id` is the adapter's id of the frame. Nothing is sent.
        """
        return {
            variable["name"]
            for scope in self.local_scopes(frame_id)
            if scope.get("presentationHint") == "arguments" or scope["name"].startswith("Arg")
            for variable in self.variables.get(scope["variablesReference"], ())
        }

    def keep_children(self, arguments: Body, variables: list[Variable]) -> None:
        """Keep the children in a `variables` response, and how many elements each has.

        `arguments` are the request's. All children replace those known; a first page is kept as members of a folded value; of
        any other page only the counts and lazy references are kept.
        """
        self._take_variables(arguments, variables)
        for each in variables:
            self.keep_size(each)

    def keep_size(self, described: Variable | Body) -> None:
        """Keep the number of elements (`indexedVariables`) of a variable or of an expression's value.

        `described` is a `Variable` or the body of a response; without a positive number nothing changes.
        """
        number = described.get("indexedVariables")
        if isinstance(number, int) and number > 0:
            self.element_counts[described.get("variablesReference", 0)] = number

    def apply_write(self, arguments: Body, body: Body) -> None:
        """Mark all known variables as outdated after a write, and keep the new value that the response has.

        `arguments` and `body` are those of the request that writes and of its response, empty if there is none. Members of folded
        values are forgotten.
        """
        self._take_written(arguments, body)
        self.keep_size(body)
        self.outdated_references = set(self.variables)
        self.unfolded.forget()

    def _take_variables(self, arguments: Body, variables: list[Variable]) -> None:
        """Keep the children in a `variables` response, or a first page as members of a folded value.

        `arguments` are the request's: with `filter`, `start` or `count` it asks for a page, which is kept only if
        `start` is given as 0. A child that was set is kept with its new value where `variables` still have the old
        one. The references of lazy children are added to `lazy_references`, also those of pages that are not kept. A
        response with all children takes their container out of `outdated_references`.
        """
        reference = arguments["variablesReference"]
        if self.written_values:
            variables = [self._as_written(reference, each) for each in variables]
        self.lazy_references |= {
            each["variablesReference"]
            for each in variables
            if each.get("presentationHint", {}).get("lazy")
        }
        if not arguments.keys() & {"filter", "start", "count"}:
            self.variables[reference] = variables
            self.outdated_references.discard(reference)
        elif arguments.get("start") == 0:
            self.unfolded.keep_members(
                reference, variables, int(arguments.get("count") or FIRST_MEMBERS)
            )

    def _take_written(self, arguments: Body, body: Body) -> None:
        """Keep in `written_values` a variable's new value from the response to `setVariable`.

        `arguments` are those of the request, `body` is the response's. Beside the new value the one from before the first
        write is kept, since some adapters report that old value until the program resumes. Nothing is kept if the
        variable was not fetched, or the response has no `value`.
        """
        key = arguments.get("variablesReference", 0), str(arguments.get("name"))
        for variable in self.variables.get(key[0], ()):
            if variable["name"] == key[1] and "value" in body:
                before = self.written_values.get(key, (variable["value"],))[0]
                now = {**variable, **{each: body[each] for each in _WRITTEN if each in body}}
                self.written_values[key] = before, cast("Variable", now)

    def _as_written(self, reference: int, variable: Variable) -> Variable:
        """Return a fetched variable; the one that was set if the adapter still reports the value before that."""
        was, now = self.written_values.get((reference, variable["name"]), ("", variable))
        return now if variable["value"] == was else variable

    def is_getter(self, variable: Variable) -> bool:
        """Return whether a variable is lazy: it has a value and a type only once its code has run."""
        return (
            variable["variablesReference"] != 0
            and variable["variablesReference"] in self.lazy_references
        )

    def shown(self, variable: Variable) -> str:
        """Return a variable's value as text; of a folded one with its first members, as far as fetched.

        A getter has no value yet, whatever its adapter sends: it gives `GETTER`.
        """
        if self.is_getter(variable):
            return GETTER
        # Most have nothing to unfold.
        return (
            self.unfolded.shown(variable) if variable["variablesReference"] else variable["value"]
        )

    def brief(self, variable: Variable) -> str:
        """Return a variable's value as history shows it, in at most `KEPT_VALUE` characters."""
        return self.unfolded.brief(variable, KEPT_VALUE)

    def reduce_to_history(self, top: int | None) -> None:
        """Reduce scopes and variables to the locals of the frame with id `top`, once the program has resumed.

        `top` is the frame that is looked at first. Of each of its local scopes at most `KEPT_VARIABLES` stay, with
        name and shortened value only. If it is None, or has no such scopes, no scope and variable stays, but
        `stale_locals` do, reduced likewise. Fetched members are dropped. Sets `is_settled`, and `expanded_locals` for
        locals that were expanded.
        """
        here = [] if top is None else self.top_locals(top)
        opened = here if self.unfolded else ()
        self.expanded_locals = {
            v["name"]: self.depth_and_value(v) for v in opened if self.unfolded.expanded_count(v)
        }
        self.is_settled = True
        kept = [] if top is None else self.local_scopes(top)
        self.scopes = {top: kept} if top is not None and kept else {}
        references = {scope["variablesReference"] for scope in kept}
        self.variables = {
            r: self.kept(self.variables[r]) for r in references if r in self.variables
        }
        self.stale_locals = self.kept(self.stale_locals) if self.stale_locals and not kept else None
        self.unfolded.forget()

    def depth_and_value(self, variable: Variable) -> tuple[int, str]:
        """Return how many containers were expanded to show a local, and the adapter's value, shortened.

        After `reduce_to_history` both are those of before; the count is 0 for a local that was not expanded.
        """
        if self.is_settled:
            return self.expanded_locals.get(variable["name"], (0, variable["value"]))
        return self.unfolded.expanded_count(variable), adapters_value(variable, KEPT_VALUE)

    def kept(self, variables: Sequence[Variable]) -> list[Variable]:
        """Return what history keeps of variables: name and shortened value, of at most `KEPT_VARIABLES`."""
        return [
            Variable(name=v["name"], value=self.brief(v), variablesReference=0)
            for v in variables[:KEPT_VARIABLES]
        ]
