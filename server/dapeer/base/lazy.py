"""Packages that are executed when something of them is first asked for: `import package.module` works without.

`import mcp` loads the MCP library's clients and another kind of server, which a server of ours does not use: a fifth of
all that it loads.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType


class _Package(ModuleType):
    def __getattr__(self, name: str) -> object:
        spec = self.__spec__
        # Whoever asks for such a name looks at modules, and uses none.
        if name.startswith("__") or spec is None or spec.loader is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.__class__ = ModuleType  # type: ignore[assignment] - it is one from here on
        spec.loader.exec_module(self)
        return getattr(self, name)


def packages(*names: str) -> None:
    """Execute these packages when something of them is first asked for, unless they are imported already.

    They are to be asked by one thread. A package that is not installed is left to whoever imports it.
    """
    for name in names:
        spec = None if name in sys.modules else find_spec(name)
        if spec is not None:
            module = module_from_spec(spec)
            module.__class__ = _Package
            sys.modules[name] = module
