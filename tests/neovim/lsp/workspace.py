"""A small Python project, and a Neovim whose language servers know it."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client

from tests.neovim.editor import Editor, neovim
from tests.neovim.joint import attached

SHOP = '''\
"""A shop."""
import os
from typing import Protocol


class Priced(Protocol):
    def price(self) -> int: ...


class Book(Priced):
    """Something to read."""

    title: str = "😀 Übung"

    def price(self) -> int:
        return 3


def total(books: list[Book]) -> int:
    """Add up."""
    return sum(book.price() for book in books)


grüße = "😀😀"; länge = len(grüße); print(länge)
wrong: int = "a"
'''

TILL = """\
from shop import Book, total


def pay() -> int:
    return total([Book(), Book()])


print( pay( ) )
print(undefined_name)
"""

# The words of the servers' command lines, and what each is given besides.
SERVERS = """
local servers = {servers}
vim.cmd('filetype plugin on')
vim.api.nvim_create_autocmd('LspAttach', {{
  callback = function(args)
    vim.rpcnotify(vim.g.test_channel, 'attached', vim.lsp.get_client_by_id(args.data.client_id).name)
  end,
}})
vim.api.nvim_create_autocmd('LspDetach', {{
  callback = function(args)
    -- Neovim forgets the server in what it has put off by now.
    vim.schedule(function()
      vim.rpcnotify(vim.g.test_channel, 'detached', args.data.client_id)
    end)
  end,
}})
vim.api.nvim_create_autocmd('FileType', {{
  pattern = 'python',
  callback = function(args)
    for name, config in vim.spairs(servers) do
      local capabilities = vim.lsp.protocol.make_client_capabilities()
      capabilities.general.positionEncodings = config.encodings or {{ 'utf-16' }}
      if config.push then
        capabilities.textDocument.diagnostic = nil
      end
      vim.lsp.start({{
        name = name,
        cmd = config.cmd,
        root_dir = '{root}',
        capabilities = capabilities,
        init_options = config.options,
      }}, {{ bufnr = args.buf }})
    end
  end,
}})
"""

BIN = Path(sys.executable).parent
TY = f"cmd = {{ '{BIN / 'ty'}', 'server' }}"
RUFF = f"cmd = {{ '{BIN / 'ruff'}', 'server' }}"
BOTH = {"ty": TY, "ruff": RUFF}


def project(tmp_path: Path) -> Path:
    """Make the project; return its folder."""
    root = tmp_path / "shop"
    root.mkdir()
    (root / "pyproject.toml").write_text(
        '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.11"\n', encoding="utf-8"
    )
    (root / "shop.py").write_text(SHOP, encoding="utf-8")
    (root / "till.py").write_text(TILL, encoding="utf-8")
    return root


@asynccontextmanager
async def shop(
    tmp_path: Path, servers: dict[str, str] = BOTH, opened: str | None = "shop.py"
) -> AsyncGenerator[tuple[Client, Editor, Path]]:
    """Start a Neovim in the project, with a file that the person looks at, and an assistant.

    Args:
        tmp_path: Where everything is.
        servers: Fields of a Lua table, by the server's name.
        opened: The file; its servers are attached when this returns. None: no file, no server.
    """
    root = project(tmp_path)
    table = ", ".join(f"{name} = {{ {fields} }}" for name, fields in servers.items())
    rc = SERVERS.format(servers=f"{{ {table} }}", root=root)
    async with (
        neovim(tmp_path, dap=False, rc=rc, setup={}, cwd=root) as editor,
        attached(editor, root) as (c, _),
    ):
        if opened:
            await editor.lua("vim.cmd.edit(...)", opened)
            for _ in servers:
                await editor.wait_for_notification("attached")
        yield c, editor, root


async def text(editor: Editor, path: Path) -> list[str]:
    """Return what Neovim holds of a file."""
    code = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false)"
    return list(await editor.lua(code, str(path)))
