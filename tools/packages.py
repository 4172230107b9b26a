"""The files by which clients and editors install dapeer: `uv run python -m tools.packages` writes them.

Name, version and description stand in `pyproject.toml`, and nowhere else by hand. What points at the published package
is written by `--release FOLDER` only, once the package is there: whoever owned its name could run code at everybody
who follows such a link.
"""

import base64
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dapeer.mcp.all_tools import TOOLS
from tests.programs import ROOT

AGENT = "packages/agent"
SERVERS = ("dapeer", "plugin_dapeer_dapeer")
"""What Claude Code calls our server where it was configured, and where it comes with the plugin."""
READING = ("Read", "Grep", "Glob", "Bash")
"""The tools of Claude Code's own that the agent has besides ours."""
MADE = "made by `python -m tools.packages`"


def project() -> Mapping[str, Any]:
    """Return what pyproject.toml says of the project."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def files() -> dict[str, str]:
    """Return each file, by its path in the repository, with its text."""
    about = project()
    return {
        ".claude-plugin/marketplace.json": _json(_marketplace(about)),
        ".claude-plugin/plugin.json": _json(_claude(about)),
        f"{AGENT}/agents/dapeer-debugger.md": _agent(),
        "gemini-extension.json": _json(_gemini(about)),
        "packages/mcpb/manifest.json": _json(_bundle(about)),
        "lazy.lua": _lazy(),
        f"{about['name']}-{about['version']}-1.rockspec": _rockspec(about),
    }


def released(about: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that point at the published package: entries of registries, and links."""
    return {
        "server.json": _json(_registry(about)),
        "package.yaml": _mason(about),
        "links.md": _links(about),
    }


def is_published(about: Mapping[str, Any]) -> bool:
    """Whether this version can be had by its name."""
    name, version = about["name"], about["version"]
    command = ("uv", "tool", "run", "--refresh", "--from", f"{name}=={version}", name, "--version")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0 and version in done.stdout


def _server(about: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Return what runs the source in a folder, which the client fills in."""
    return {
        "command": "uv",
        "args": [
            "run",
            "--quiet",
            "--no-default-groups",
            "--project",
            folder,
            about["name"],
            "stdio",
        ],
    }


def _published(about: Mapping[str, Any]) -> dict[str, Any]:
    return {"command": "uvx", "args": [about["name"], "stdio"]}


def _known(about: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": about["name"],
        "version": about["version"],
        "description": about["description"],
        "license": about["license"],
        "repository": about["urls"]["Repository"],
        "keywords": about["keywords"],
    }


def _marketplace(about: Mapping[str, Any]) -> dict[str, Any]:
    plugin = {key: _known(about)[key] for key in ("name", "version", "description")}
    return {
        "name": about["name"],
        "description": about["description"],
        "owner": {"name": about["authors"][0]["name"]},
        # The plugin is the whole repository: it runs the source that it came with.
        "plugins": [{**plugin, "source": "./"}],
    }


def _claude(about: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **_known(about),
        "author": {"name": about["authors"][0]["name"]},
        "skills": f"./{AGENT}/skills",
        "agents": [f"./{AGENT}/agents/dapeer-debugger.md"],
        "mcpServers": {about["name"]: _server(about, "${CLAUDE_PLUGIN_ROOT}")},
    }


def _agent() -> str:
    """Return the agent as it is, with the tools of the group `lean`."""
    text = (ROOT / AGENT / "agents/dapeer-debugger.md").read_text(encoding="utf-8")
    ours = [
        f"mcp__{server}__{name}"
        for server in SERVERS
        for name in sorted(each.name for each in TOOLS if each.is_lean)
    ]
    return re.sub(r"(?m)^tools: .*$", f"tools: {', '.join((*READING, *ours))}", text)


def _gemini(about: Mapping[str, Any]) -> dict[str, Any]:
    known = {key: _known(about)[key] for key in ("name", "version", "description")}
    skill = f"{AGENT}/skills/debug-with-dapeer/SKILL.md"
    return {
        **known,
        "mcpServers": {about["name"]: _server(about, "${extensionPath}")},
        "contextFileName": skill,
    }


def _bundle(about: Mapping[str, Any]) -> dict[str, Any]:
    known = _known(about)
    return {
        "manifest_version": "0.4",
        **known,
        "repository": {"type": "git", "url": known["repository"]},
        "author": {"name": about["authors"][0]["name"]},
        "server": {
            "type": "uv",
            "entry_point": "server/dapeer/__main__.py",
            "mcp_config": _server(about, "${__dirname}"),
        },
    }


def _registry(about: Mapping[str, Any]) -> dict[str, Any]:
    package = {
        "registryType": "pypi",
        "identifier": about["name"],
        "version": about["version"],
        "runtimeHint": "uvx",
        "packageArguments": [{"type": "positional", "value": "stdio"}],
        "transport": {"type": "stdio"},
    }
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": registry_name(about),
        "description": about["description"],
        "version": about["version"],
        "repository": {"url": about["urls"]["Repository"], "source": "github"},
        "packages": [package],
    }


def registry_name(about: Mapping[str, Any]) -> str:
    """Return the name in the MCP registry; README names it too, which proves whose package it is."""
    owner, name = about["urls"]["Repository"].rsplit("/", 2)[1:]
    return f"io.github.{owner}/{name}"


def _mason(about: Mapping[str, Any]) -> str:
    name = about["name"]
    return (
        f"# {MADE}\n---\nname: {name}\ndescription: |\n  {about['description']}.\n"
        f"homepage: {about['urls']['Repository']}\nlicenses:\n  - {about['license']}\n"
        "languages: []\ncategories:\n  - DAP\n"
        f"\nsource:\n  id: pkg:pypi/{name}@{about['version']}\n\nbin:\n  {name}: pypi:{name}\n"
    )


def _lazy() -> str:
    # Optional: in a folder of another name it is the spec of no plugin.
    return (
        f"-- What lazy.nvim takes when it is told nothing else; {MADE}.\n"
        "return { 'dapeer', optional = true, dependencies = { 'mfussenegger/nvim-dap' }, opts = {} }\n"
    )


def _rockspec(about: Mapping[str, Any]) -> str:
    name, version, repository = about["name"], about["version"], about["urls"]["Repository"]
    return f"""-- {MADE}
rockspec_format = '3.0'
package = '{name}'
version = '{version}-1'
source = {{
  url = 'git+{repository}',
  tag = 'v{version}',
}}
description = {{
  summary = '{about["description"]}',
  homepage = '{repository}',
  license = '{about["license"]}',
  labels = {{ 'neovim', 'dap', 'mcp' }},
}}
dependencies = {{ 'lua >= 5.1' }}
build = {{
  type = 'builtin',
  copy_directories = {{ 'doc', 'plugin' }},
}}
"""


def _links(about: Mapping[str, Any]) -> str:
    """Return the links that install dapeer by one click."""
    server = _published(about)
    config = base64.b64encode(_compact(server).encode()).decode()
    cursor = f"cursor://anysphere.cursor-deeplink/mcp/install?name={about['name']}&config={quote(config)}"
    vscode = f"vscode:mcp/install?{quote(_compact({'name': about['name'], **server}))}"
    return f"Cursor:\n\n```\n{cursor}\n```\n\nVS Code:\n\n```\n{vscode}\n```\n"


def _compact(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the files; with `--check` name those that are not as they should be, with `--release` write the others."""
    if arguments[:1] == ["--release"]:
        return _release(Path(arguments[1]))
    outdated = [path for path, text in files().items() if _text(path) != text]
    for path in outdated:
        sys.stdout.write(f"{path}\n")
        if arguments != ["--check"]:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(files()[path], encoding="utf-8")
    return 1 if outdated and arguments == ["--check"] else 0


def _release(folder: Path) -> int:
    about = project()
    if not is_published(about):
        sys.stderr.write(
            f"{about['name']} {about['version']} is not published, so nothing may point at it. Publish it first.\n"
        )
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in released(about).items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


def _text(path: str) -> str | None:
    file = ROOT / path
    return file.read_text(encoding="utf-8") if file.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
