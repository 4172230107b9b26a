"""The modules and sources that a debuggee has loaded, as its adapter reports them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dapeer.dap.bodies import (
    LoadedSourceEventBody,
    LoadedSourcesResponseBody,
    ModuleEventBody,
    ModulesResponseBody,
)
from dapeer.dap.messages import Body
from dapeer.dap.shapes import EventHandler, ResponseHandler
from dapeer.dap.types import Source
from dapeer.mirror.bounded import Bounded


@dataclass(slots=True)
class Loaded:
    """Modules and sources that came and did not go. `Mirror` feeds it."""

    modules: Bounded[str, Body] = field(default_factory=lambda: Bounded("modules"))
    """By id."""
    sources: Bounded[str, Source] = field(default_factory=lambda: Bounded("sources"))
    """By path, or by reference if there is none."""
    news: int = 0
    """Counts the messages that have told of sources."""

    @property
    def tables(self) -> tuple[Bounded[str, Body], Bounded[str, Source]]:
        """`modules` and `sources`, whose sizes are limited."""
        return self.modules, self.sources

    @property
    def on_event(self) -> Mapping[str, EventHandler]:
        """The handlers of events, by the event's name; each gets the event's body."""
        return {"module": self._module, "loadedSource": self._source}

    @property
    def on_response(self) -> Mapping[str, ResponseHandler]:
        """The handlers of responses, by command; each gets the request's arguments and the response's body."""
        return {"modules": self._modules_listed, "loadedSources": self._sources_listed}

    def _module(self, body: ModuleEventBody) -> None:
        """Add, replace or remove a module by a `module` event."""
        module = body.get("module", {})
        if body.get("reason") == "removed":
            self.modules.pop(str(module.get("id")), None)
        else:
            self.modules[str(module.get("id"))] = module

    def _source(self, body: LoadedSourceEventBody) -> None:
        """Add, replace or remove a source by a `loadedSource` event."""
        self.news += 1
        source = body.get("source", Source())
        if body.get("reason") == "removed":
            self.sources.pop(_key(source), None)
        else:
            self.sources[_key(source)] = source

    def _modules_listed(self, arguments: Body, body: ModulesResponseBody) -> None:
        """Take in a `modules` response.

        A request with a `startModule` adds to the modules, any other replaces them.
        """
        modules = body.get("modules", ())
        # A page of a long list extends the known part; a whole list replaces it.
        known = self.modules if arguments.get("startModule") else dict[str, Body]()
        listed = {str(module.get("id")): module for module in modules}
        self.modules = Bounded("modules", {**known, **listed})

    def _sources_listed(self, _arguments: Body, body: LoadedSourcesResponseBody) -> None:
        """Replace `sources` by those of a `loadedSources` response."""
        self.news += 1
        sources = body.get("sources", ())
        self.sources = Bounded("sources", {_key(source): source for source in sources})


def _key(source: Source) -> str:
    """Return what identifies a source: its path, else its `sourceReference`, else its name, as a text."""
    return str(source.get("path") or source.get("sourceReference") or source.get("name"))
