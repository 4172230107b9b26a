"""Exception filters, as a caller names them and as an adapter gets them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dapeer.base.errors import ArgumentError
from dapeer.base.json_types import as_array, as_object, is_array
from dapeer.dap.types import SetExceptionBreakpointsArguments

_TYPE = re.compile(r"[\w.:$]+")
_TELLING = re.compile(r"[A-Z]|.*[\w][.:]+[\w]")
"""The beginning of a type's name that stands alone, where a filter might be misspelt."""


@dataclass(frozen=True, slots=True)
class Filter:
    """An exception filter: one that dapeer makes, or one of the adapter with further facts."""

    name: str
    default: bool
    """Whether it is on by default."""
    functions: tuple[str, ...] = ()
    """It consists of breakpoints on these functions."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that it needs in the program's environment."""

    @property
    def is_made_by_dapeer(self) -> bool:
        """Return whether dapeer makes this filter itself, so that the adapter does not know it."""
        return bool(self.functions or self.environment)


@dataclass(frozen=True, slots=True)
class TypeFilter:
    """How to ask an adapter for exceptions of one type."""

    filter: str
    """The filter that is meant by a type alone."""
    condition: str = ""
    """A filter's condition that is true of exceptions of `${type}`."""
    category: str = ""
    """The first name on the path of `exceptionOptions`."""
    modes: Mapping[str, str] = field(default_factory=dict[str, str])
    """By filter: the break mode in `exceptionOptions`."""


class FilterChoice(NamedTuple):
    """A filter with a type or condition; empty: all exceptions of the filter."""

    filter: str
    type_or_condition: str


class Filters:
    """The exception filters of one adapter."""

    def __init__(
        self, known_filters: Sequence[Filter] = (), types: TypeFilter | None = None
    ) -> None:
        """Describe the filters of one adapter, from its definition.

        `known_filters` are filters that dapeer adds or whose default it changes. `types` says how the adapter is asked for
        exceptions of one type; None: it supports neither types nor conditions.
        """
        self._known_filters = {each.name: each for each in known_filters}
        self._types = types

    def offered(self, adapter_filters: Mapping[str, bool]) -> dict[str, bool]:
        """Return all exception filters that a caller may name, each with whether it is on by default.

        `adapter_filters` are the filters that the adapter itself reports in `exceptionBreakpointFilters`, each with its
        default. dapeer's own filters are added, and the definition's default of a filter that it lists (False unless it
        names one) replaces the reported one.
        """
        known = {
            name: each.default
            for name, each in self._known_filters.items()
            if each.is_made_by_dapeer or name in adapter_filters
        }
        return {**adapter_filters, **known}

    def filters_at_start(
        self, texts: Sequence[str] | None, adapter_filters: Mapping[str, bool]
    ) -> Sequence[str] | None:
        """Return the filters to send to an adapter at a start, as callers write them.

        `texts` are the filters that the user wants; those that this adapter cannot do are left out. None stands for the adapter's
        default filters. `adapter_filters` are the adapter's own filters with their defaults. The result is None if the adapter offers no
        filters at all.
        """
        offered = self.offered(adapter_filters)
        if not offered:
            return None
        if texts is None:
            return [name for name, default in offered.items() if default]
        return [text for text in texts if self.parse_filter(text, adapter_filters)]

    def parse_filter(self, text: str, adapter_filters: Mapping[str, bool]) -> FilterChoice | None:
        """Return the filter and the type or condition that a caller's text names, or None if it names none.

        `text` is `FILTER`, `FILTER:TYPE`, `FILTER:CONDITION`, or a `TYPE` alone, which must begin with a capital letter
        or have a separator such as `.` within, since it could be a misspelt filter; it gets the filter that the
        adapter's definition names for that. `adapter_filters` are the adapter's own filters with their defaults; only
        these may stand before a type or condition, which is stripped. Types and conditions are accepted only where the
        definition says how to ask for them.
        """
        offered = self.offered(adapter_filters)
        if text in offered:
            return FilterChoice(text, "")
        name, _, only = text.partition(":")
        if self._types is None:
            return None
        if name in adapter_filters and only.strip():
            return (
                FilterChoice(name, only.strip()) if self._supports_condition(only.strip()) else None
            )
        alone = _TYPE.fullmatch(text) and _TELLING.match(text)
        return FilterChoice(self._types.filter, text) if alone else None

    def _supports_condition(self, only: str) -> bool:
        """Return whether the adapter supports `only`, which is the name of a type or a condition."""
        types = self._types
        return types is not None and bool(types.condition or _TYPE.fullmatch(only))

    def check(
        self, texts: Sequence[str], adapter_filters: Mapping[str, bool], adapter: str
    ) -> None:
        """Check that the adapter supports every filter, type or condition that a caller names in `texts`.

        Each text is in the form that `parse_filter` takes: `FILTER`, `FILTER:TYPE`, `FILTER:CONDITION` or `TYPE`.
        `adapter_filters` are the adapter's own filters with their defaults; `adapter` is its id, for the error. Nothing
        is returned.

        Raises:
            ArgumentError: The adapter does not support one of them; the error lists the filters that it offers.
        """
        for text in texts:
            if self.parse_filter(text, adapter_filters) is None:
                allowed = ", ".join(self.offered(adapter_filters)) or "none"
                types = ", or the name of a type" if self._types else "; it cannot stop at one type"
                raise ArgumentError(
                    f"The adapter {adapter} has no exception filter {text!r}.",
                    f"It offers: {allowed}{types}.",
                )

    def functions(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the functions on which dapeer's own filters among `texts` need breakpoints."""
        return tuple(name for each in self._own_entries(texts) for name in each.functions)

    def environment(self, texts: Sequence[str] | None) -> dict[str, str]:
        """Return the environment variables, by name, that dapeer's own filters need in the program.

        `texts` are filters as callers write them; those that are not dapeer's own need none. None stands for the filters that are on by
        default in the adapter's definition.
        """
        if texts is None:
            texts = [name for name, each in self._known_filters.items() if each.default]
        return {
            name: value
            for each in self._own_entries(texts)
            for name, value in each.environment.items()
        }

    def _own_entries(self, texts: Sequence[str]) -> Iterator[Filter]:
        """Return the entries of the adapter's definition for those `texts` that are the name of one."""
        return (self._known_filters[text] for text in texts if text in self._known_filters)

    def arguments(
        self, texts: Sequence[str], adapter_filters: Mapping[str, bool]
    ) -> SetExceptionBreakpointsArguments:
        """Return the arguments of `setExceptionBreakpoints` for the filters that a caller names in `texts`.

        dapeer's own filters, and texts that the adapter does not support, are left out. If no text that is left
        has a type or condition, only `filters` is filled; it is empty if none is left. If one has, the adapter's
        definition decides: with break modes, all of them become `exceptionOptions`, and `filters` is empty;
        otherwise plain filters stay in `filters`, and types and conditions become `filterOptions`, one entry for
        each filter, several of them joined by ` || `. There, a filter that is also requested plainly gets no
        entry. `adapter_filters` are the adapter's own filters by id, each with whether it is on by default.
        """
        requested = [each for text in texts if (each := self.parse_filter(text, adapter_filters))]
        requested = [each for each in requested if each.filter in adapter_filters]
        plain = [each.filter for each in requested if not each.type_or_condition]
        if len(plain) == len(requested) or self._types is None:
            return {"filters": plain}
        if self._types.modes:
            return {"filters": [], "exceptionOptions": list(self._options(self._types, requested))}
        return {"filters": plain, "filterOptions": list(self._conditions(self._types, requested))}

    def texts_of_options(self, options: object) -> list[str] | None:
        """Return another client's DAP `exceptionOptions` as the texts that dapeer's callers write.

        Each exception type that an option names becomes `FILTER:TYPE`; an option that names only the category,
        `FILTER`. None means that these options cannot be written so: the adapter uses no `exceptionOptions`, they are
        no list of objects in DAP's form, or one of them has no `path`, an unknown break mode, another category, or
        `negate`. Options with `breakMode` `never` are skipped, so an empty list requests nothing.
        """
        if self._types is None or not self._types.modes or not is_array(options):
            return None
        modes = {mode: name for name, mode in self._types.modes.items()}
        texts: list[str] = []
        for option in map(as_object, options):
            parts = [*map(as_object, as_array(option.get("path")))]
            path = [as_array(part.get("names")) for part in parts]
            mode = str(option.get("breakMode"))
            if mode == "never":
                continue
            if mode not in modes or not path or path[0] != [self._types.category]:
                return None
            names = [name for part in path[1:] for name in part]
            if any(part.get("negate") for part in parts) or not all(path):
                return None
            if not all(isinstance(name, str) for name in names):
                return None
            texts += [f"{modes[mode]}:{name}" for name in names] if names else [modes[mode]]
        return texts

    @staticmethod
    def _options(types: TypeFilter, choices: Sequence[FilterChoice]) -> Iterator[dict[str, Any]]:
        """Yield one entry of DAP's `exceptionOptions` for each choice: its category, with its type if any."""
        for name, only in choices:
            path = [{"names": [types.category]}, *([{"names": [only]}] if only else [])]
            yield {"path": path, "breakMode": types.modes.get(name, "always")}

    @staticmethod
    def _conditions(types: TypeFilter, choices: Sequence[FilterChoice]) -> Iterator[dict[str, str]]:
        """Yield one entry of DAP's `filterOptions` for each filter that is chosen only with conditions.

        A type counts as a condition here. Several conditions of one filter are joined by ` || `. A filter that is also requested
        without one gets no entry.
        """
        plain = {name for name, only in choices if not only}
        for filter_ in dict.fromkeys(name for name, _ in choices if name not in plain):
            each = [_condition(types, only) for name, only in choices if name == filter_]
            joined = each[0] if len(each) == 1 else " || ".join(f"({one})" for one in each)
            yield {"filterId": filter_, "condition": joined}


def _condition(types: TypeFilter, only: str) -> str:
    """Return the condition for a type, made of the definition's template, or `only` if it is a condition."""
    return types.condition.replace("${type}", only) if _TYPE.fullmatch(only) else only
