# The commands of CONTRIBUTING.md, by name. `just` lists them.
_list:
  @just --list

# Make the environment, with Neovim and some debug adapters in it.
sync:
  uv sync --group dev

# Run the quick suite, or some of it: `just test tests/test_cli.py -n 2`.
test *arguments:
  uv run pytest {{arguments}}

# Check format, lint and types; it changes nothing.
check:
  uv run ruff format --check
  uv run ruff check
  uv run pyright
  uv run python -m tools.lua_style --check

# Print figures of the code.
figures *arguments:
  uv run python -m tools.figures {{arguments}}

# List the tests that run a module, most of it first; `--record MODULE tests/FILE…` notes what tests run.
tests-of *arguments:
  uv run python -m tools.tests_of {{arguments}}

# Rename over the whole tree by a table: lines of `file<TAB>Class.member or function(parameter)<TAB>new name`.
rename table:
  uv run python -m tools.renames apply {{table}}

# Prove that a commit does nothing but the renames that its message lists.
rename-check commit="HEAD":
  uv run python -m tools.renames check {{commit}}

# Write the schemas of tools, and the generated tables of the pages and of the help, anew.
pages:
  uv run python -m tools.known_answers
  uv run python -m tools.script_methods
  uv run python -m tools.pages
  uv run python -m tools.consent_table

# Pass the gate, as CI does at a change.
ci *arguments:
  .ci/run {{arguments}}

# Run the quick suite several times, and count what failed or needed another try.
flaky times="5":
  #!/usr/bin/env bash
  for run in $(seq {{times}}); do
    uv run pytest | grep -E '^(FLAKY|FAILED|ERROR) ' | cut -d' ' -f1-2 | sort -u
  done | sort | uniq -c | sort -rn
