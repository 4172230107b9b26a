"""The long form: attack for some minutes, kind after kind, and print a table of figures.

Anywhere but in a container of its own it does no harm, either: it kills what it has started, and nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import SystemRandom

from dapeer.adapters.choice.detection import detect
from dapeer.neovim.sockets import NAMED_BY
from tests.hostile import consents, files, fuzzed_calls, garbage, kills, second_user, sick_adapters
from tests.hostile.judge import FAULTS, Judge
from tests.languages import LANGUAGES, Language
from tests.programs import ROOT

Attack = Callable[[Judge, int], Awaitable[object]]


def main() -> int:
    """Attack, print the figures, and return 1 when anything has happened that must not."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6))
    options = parser.parse_args()
    _say(f"Seed {options.seed}; --seed {options.seed} repeats what is sent.\n")
    judge = Judge()
    with tempfile.TemporaryDirectory() as folder:
        _apart(Path(folder))
        asyncio.run(_attack(judge, options.seed, options.minutes * 60, Path(folder)))
    for what in sorted(judge.figures.keys() - set(FAULTS)):
        _say(f"| {what} | {judge.figures[what]:,} |\n")
    for what in FAULTS:
        _say(f"| **{what}** | {judge.figures[what]} |\n")
    _say(f"\n{judge.verdict()}\n" if judge.faults else "")
    return 1 if judge.faults else 0


def _apart(folder: Path) -> None:
    """Keep the user's own settings and servers out of it."""
    for name in ("CONFIG_HOME", "RUNTIME_DIR", "STATE_HOME", "CACHE_HOME"):
        path = folder / name
        path.mkdir(mode=0o700)
        os.environ[f"XDG_{name}"] = str(path)
    for name in NAMED_BY:
        os.environ.pop(name, None)
    os.chdir(ROOT)


async def _attack(judge: Judge, seed: int, seconds: float, build: Path) -> None:
    """Go round all kinds until the time is over; each gets a new seed every time."""
    over = time.monotonic() + seconds
    while True:
        for name, attack in _attacks(build):
            if time.monotonic() > over:
                return
            before = judge.faults
            await attack(judge, seed)
            if judge.faults > before:
                _say(f"{name}, seed {seed}: {judge.faults - before} faults\n")
        seed += 1


def _attacks(build: Path) -> list[tuple[str, Attack]]:
    ready = [each for each in LANGUAGES if detect(each.definition).ready]
    found: list[tuple[str, Attack]] = [
        ("adapters", lambda judge, seed: sick_adapters.attack(judge, seed, 60)),
        ("calls", lambda judge, seed: fuzzed_calls.attack(judge, seed, 300, None)),
        ("consent", lambda judge, seed: consents.guarded(judge, seed, 300)),
        ("read-only", lambda judge, seed: consents.read_only(judge, seed, 200)),
        ("stdio", lambda judge, seed: garbage.over_stdio(judge, seed, 300)),
        ("HTTP", lambda judge, seed: garbage.over_http(judge, seed, 300)),
        ("slow clients", lambda judge, seed: garbage.slow(judge, seed, 400)),
        ("launch.json", lambda judge, seed: files.launch_json(judge, seed, 60)),
        ("definitions", _definitions),
    ]
    for language in ready:
        found += _of(language, build)
    if second_user.possible:
        found.append(("second user", lambda judge, _: second_user.beside_servers(judge)))
    return found


def _of(language: Language, build: Path) -> list[tuple[str, Attack]]:
    """Return the attacks with one adapter."""
    found: list[tuple[str, Attack]] = [
        (f"calls: {language}", lambda judge, seed: fuzzed_calls.attack(judge, seed, 60, language)),
        (f"kills: {language}", lambda judge, seed: kills.attack(judge, seed, 4, language, build)),
    ]
    if second_user.possible and str(language) not in second_user.OPEN:
        found.append((
            f"second user: {language}",
            lambda judge, _: second_user.beside_sessions(judge, 2, language, build),
        ))  # fmt: skip
    return found


async def _definitions(judge: Judge, seed: int) -> None:
    files.definitions(judge, seed, 500)


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
