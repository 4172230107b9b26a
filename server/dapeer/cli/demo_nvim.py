"""`dapeer demo --nvim`: a person in Neovim and an assistant find the bug in one and the same session.

The script decides what the two do next; Neovim, nvim-dap, the server and the debugger are real.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final, Protocol

import anyio
from mcp import Client
from mcp.types import TextContent

from dapeer.base.json_types import Value
from dapeer.base.system.tasks import BackgroundTask, Mailbox
from dapeer.base.text.fitting import shortened
from dapeer.cli.demo import (
    WIDTH,
    UnexpectedBehaviour,
    assistant,
    call,
    expect,
    line_of,
    play,
    program,
    say,
    show,
)
from dapeer.neovim.client import Neovim
from dapeer.neovim.program import (
    find_nvim,
    find_nvim_dap,
    nvim_dap_install_folder,
    plugin_folder,
    too_old_note,
)

# A person at Neovim: what they do there, and what they see.
#
# They type, and use nvim-dap's public functions, over Neovim's own RPC. They know nothing of dapeer, but that its plugin
# is loaded.

LUA: Final = Path(__file__).with_name("demo_person.lua")
"""Their side in Neovim: the module `person` there."""


class Hands(Protocol):
    """What a person has of a Neovim: its keyboard, and what it tells."""

    async def lua(self, code: str, *arguments: object) -> Value:
        """Run Lua there; `...` are the arguments. Return what it returns."""
        ...

    async def keys(self, keys: str) -> None:
        """Press keys."""
        ...

    async def wait_for_notification(self, kind: str) -> list[Value]:
        """Wait until Neovim sends a notification of a kind, and return its other arguments."""
        ...


class Person:
    """Somebody at a Neovim. `sees_…` waits for what Neovim shows."""

    def __init__(self, hands: Hands) -> None:
        self._hands = hands

    async def _call_lua(self, function: str, *arguments: object) -> Value:
        """Call a function of the Lua module `person`, without the arguments that are None; return its result."""
        # None would come as `vim.NIL`, which is true.
        given = [each for each in arguments if each is not None]
        return await self._hands.lua(f"return require('person').{function}(...)", *given)

    # -- what the person does

    async def run(self, program: object, **more: object) -> int:
        """Start a Python program in nvim-dap; return nvim-dap's id of the session once it is initialized.

        `program` is its path. `more` are keys of the launch configuration, which win over those given here.

        Raises:
            UnexpectedBehaviour: It is not initialized within `SECONDS_TO_WAIT`.
        """
        config: Mapping[str, object] = {
            "type": "python",
            "request": "launch",
            "name": Path(str(program)).name,
            "program": str(program),
            "console": "internalConsole",
            **more,
        }
        await self._call_lua("run", config)
        return (await self._hands.wait_for_notification("initialized"))[0]

    async def opens(self, path: Path, line: int = 1) -> None:
        """Show a file in the current window, with the cursor at a line."""
        await self._call_lua("open", str(path), line)

    async def breaks_at(self, path: Path, line: int, condition: str | None = None) -> None:
        """Go to a line and set a breakpoint there."""
        await self._call_lua("breakpoint", str(path), line, condition)

    async def types(self, keys: str) -> None:
        """Press keys."""
        await self._hands.keys(keys)

    async def pauses(self) -> None:
        """Press no key for so long that dapeer moves what the person sees again."""
        await self._call_lua("pause")

    # -- what the person sees

    async def sees(self, kind: str) -> None:
        """Wait until Neovim has told this."""
        await self._hands.wait_for_notification(kind)

    async def sees_stop(self, line: int) -> None:
        """Wait until nvim-dap has shown a stop at this line."""
        while (await self._hands.wait_for_notification("stopped"))[1] != line:
            pass

    async def sees_end(self) -> int:
        """Wait until nvim-dap has closed a session; return its id."""
        return (await self._hands.wait_for_notification("ended"))[0]

    async def screen(self) -> str:
        """Return what the window shows: the lines that have a sign or the cursor."""
        return "\n".join(
            f"{signs:3} {number:3}  {code}{'      ← cursor' if cursor else ''}"
            for number, signs, code, cursor in await self._call_lua("sees")
        )

    async def looks(self, lines: int) -> list[str]:
        """Return the first lines of the screen, as they are."""
        return list(await self._call_lua("looks", lines))

    async def log(self) -> list[str]:
        """Return what `:Dapeer log` shows."""
        return list(await self._hands.lua("return require('dapeer.person.actions').lines()"))


# The Neovim of `dapeer demo --nvim`: a real one with a real nvim-dap, and somebody's place at it.


SECONDS_TO_WAIT: Final = 30.0
"""Seconds that anything may take, on a slow machine."""
SECONDS_TO_QUIT: Final = 3.0
"""Seconds that Neovim has to quit."""
SCREEN: Final = (120, 40)
"""Columns and rows: nothing that is said here needs more, or Neovim would ask for a key."""

PRINT_READY: Final = "lua io.stderr:write('ready\\n')"
SET_UP: Final = """
local file, python, channel = ...
local person = dofile(file)
package.loaded.person = person
vim.g.loaded_python3_provider = 0
require('dapeer').setup({})
person.adapters(python, function(...)
  pcall(vim.rpcnotify, channel, ...)
end)
"""


class Seat:
    """A person's place at a Neovim: its keyboard and its screen."""

    def __init__(self, socket: str) -> None:
        """Keep the socket where the Neovim listens; `connect` connects."""
        self.socket = socket
        """Where the Neovim listens."""
        self._notifications: defaultdict[str, Mailbox[list[Value]]] = defaultdict(
            Mailbox[list[Value]]
        )
        self._neovim: Neovim

    async def connect(self) -> None:
        """Connect keyboard and screen."""
        self._neovim = await Neovim.connect(self.socket, self._take)
        await self._neovim.request("nvim_ui_attach", *SCREEN, {"rgb": True})
        await self.configure(SET_UP, str(LUA))

    async def configure(self, lua: str, *arguments: object) -> None:
        """Run Lua in Neovim; its `...` are `arguments`, this Python's path, and this RPC channel's number."""
        await self.lua(lua, *arguments, sys.executable, self._neovim.channel)

    async def lua(self, code: str, *arguments: object) -> Value:
        """Run Lua there; `...` are the arguments. Return what it returns."""
        return await self._neovim.call(code, *arguments, seconds=SECONDS_TO_WAIT)

    async def keys(self, keys: str) -> None:
        """Press keys."""
        await self._neovim.request("nvim_input", keys)

    async def wait_for_notification(self, kind: str) -> list[Value]:
        """Wait for the next notification of a kind from Neovim, and return its arguments.

        Raises:
            UnexpectedBehaviour: None comes within `SECONDS_TO_WAIT`.
        """
        with in_time(f"show: {kind}"):
            return await self._notifications[kind].take()

    async def wait_for_line(self, text: str) -> None:
        """Wait until the line at Neovim's cursor is this text.

        Raises:
            UnexpectedBehaviour: It is not within `SECONDS_TO_WAIT`.
        """
        with in_time(f"be at the line: {text.strip()}"):
            while await self.lua("return vim.api.nvim_get_current_line()") != text:
                pass  # each question lets Neovim's loop turn once

    async def wait_until_blocked(self) -> str:
        """Wait until Neovim waits for a key, and return the clause that says so.

        Raises:
            UnexpectedBehaviour: It does not within `SECONDS_TO_WAIT`.
        """
        with in_time("wait for a key"):
            while not (state := await self._neovim.why_blocked()):
                pass  # each question lets Neovim's loop turn once
        return state

    async def leave(self) -> None:
        """Quit Neovim, from whatever it waits for, and close the connection."""
        await self.keys("<C-\\><C-n>")
        self._neovim.send("vim.cmd('qall!')")
        with anyio.move_on_after(SECONDS_TO_QUIT):
            await self._neovim.closed_event.wait()
        await self._neovim.aclose()

    def _take(self, name: str, arguments: list[Value]) -> None:
        """Keep the arguments of a notification for who waits for its kind; redraws are dropped."""
        if name != "redraw":
            self._notifications[name].put(arguments)


@contextmanager
def in_time(expected: str) -> Generator[None]:
    """Cancel the body after `SECONDS_TO_WAIT`; `expected` is what Neovim should do, in words.

    Raises:
        UnexpectedBehaviour: It takes longer.
    """
    try:
        with anyio.fail_after(SECONDS_TO_WAIT):
            yield
    except TimeoutError:
        raise UnexpectedBehaviour(f"Neovim should {expected}") from None


@asynccontextmanager
async def open_seat(nvim: str, nvim_dap: Path, folder: Path) -> AsyncGenerator[Seat]:
    """Start a Neovim in a folder with nvim-dap, yield a scripted person's place at it, and end it.

    `nvim` is its executable, `nvim_dap` the plugin's folder, `folder` the one that it runs in. The place is
    connected already: keyboard, screen, and dapeer's plugin set up. After the body Neovim is told to quit, and
    killed if it does not within twice `SECONDS_TO_QUIT`; its socket is in a temporary folder, which is removed.

    Raises:
        UnexpectedBehaviour: It does not start within `SECONDS_TO_WAIT`, or says something else than it should.
        OSError: `nvim` cannot be run, or `folder` does not exist.
        NeovimError: It started, but cannot be connected to or set up, or has ended before it is told to quit.
        TimeoutError: It does not answer a request in time.
    """
    with tempfile.TemporaryDirectory(prefix="dapeer-demo-") as place:
        socket = str(Path(place) / "nvim")
        async with _running(nvim, nvim_dap, socket, folder):
            seat = Seat(socket)
            await seat.connect()
            try:
                yield seat
            finally:
                await seat.leave()


@asynccontextmanager
async def _running(nvim: str, nvim_dap: Path, socket: str, folder: Path) -> AsyncGenerator[None]:
    """Start an embedded Neovim that listens at `socket`, and after the body wait for its end, or kill it.

    `nvim` is its executable, `nvim_dap` the plugin's folder, `folder` is where it runs. The body begins once
    Neovim is ready. The body is to make Neovim quit. Afterwards, or when it has not started, Neovim has
    `SECONDS_TO_QUIT` to end by itself; then it and its process group are killed.

    Raises:
        UnexpectedBehaviour: It does not start within `SECONDS_TO_WAIT`, or prints something else than that it
            is ready.
        OSError: The executable cannot be run, or `folder` does not exist.
    """
    plugins = f"set runtimepath^={plugin_folder()},{nvim_dap}"
    start = [nvim, "--clean", "-n", "--headless", "--embed", "--listen", socket]
    # An embedded Neovim ends with its stdin, so also when this process is killed.
    process = await asyncio.create_subprocess_exec(
        *start, "--cmd", plugins, "-c", PRINT_READY,
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    try:
        with in_time("start"):
            line = await process.stderr.readline() if process.stderr else b""
        if line != b"ready\n":
            raise UnexpectedBehaviour(
                f"Neovim should start, but says: {line.decode(errors='replace')}"
            )
        yield
    finally:
        try:
            with anyio.fail_after(SECONDS_TO_QUIT):
                await process.wait()
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


SHOP = program()
ADD, TOTAL, READY = (line_of(SHOP, marker) for marker in ("add", "total", "order_ready"))

SOURCE = "https://github.com/mfussenegger/nvim-dap"
WRONG: Final = "        return total * (1 - self.discount)"
TYPO: Final = "        return (total"
RIGHT: Final = "        return total"

CONFIGURATION: Final = Path(__file__).with_name("demo_configuration.lua")
"""Theirs; its `...` are this Python and the channel to tell what they see by."""


async def run() -> int:
    """Play the story with a person in Neovim, print its transcript to stdout, and return the exit code.

    The code is 1, after a printed reason, if Neovim is missing or too old, nvim-dap is missing, or the story
    goes wrong (`UnexpectedBehaviour`), else 0. Any other exception of the story leaves this function, perhaps
    in an exception group.
    """
    nvim, nvim_dap = find_nvim(), find_nvim_dap()
    if nvim is None:
        say(
            "This needs Neovim 0.10 or newer: install it from https://neovim.io, or put its folder on PATH."
        )
        return 1
    if why := too_old_note(nvim):
        say(f"{why}: install a newer one from https://neovim.io, or put its folder on PATH.")
        return 1
    if nvim_dap is None:
        say(
            f"This needs nvim-dap: `git clone {SOURCE} {nvim_dap_install_folder()}`, or name it in $DAPEER_NVIM_DAP."
        )
        return 1
    return await play(lambda: _story(nvim, nvim_dap))


async def _story(nvim: str, nvim_dap: Path) -> None:
    """Play all parts of the story, in a Neovim that is started for it and with a copy of the program.

    `nvim` is Neovim's executable, `nvim_dap` the plugin's folder. An error may leave in an exception group.

    Raises:
        UnexpectedBehaviour: Something does not go as the story says.
        OSError: `nvim` cannot be run.
        NeovimError: Neovim cannot be connected to, does not answer, fails, or has ended.
        ValueError: The assistant sees no session, or several.
    """
    say(
        "A person has `shop.py` open in Neovim. It sells goods for 100.00 with a discount of 10 %, so 90.00 should be "
        "paid, but it prints another amount. (Neovim and nvim-dap are real; the person is a script that types "
        "through Neovim's own RPC.)"
    )
    with _copy_of(SHOP) as shop:
        async with open_seat(nvim, nvim_dap, shop.parent) as seat:
            somebody = Person(seat)
            await _starts(somebody, shop)
            async with assistant(shop.parent, "--nvim", seat.socket) as client:
                await _joins(client)
                await _breakpoint(client, somebody)
                cost = await _away(client, seat, somebody)
                await _finds(client, seat, somebody, cost)
                await review(client, seat, somebody, shop)
                say("Done: found together, fixed with the person's consent, and tried out.")


@contextmanager
def _copy_of(program: Path) -> Generator[Path]:
    """Give a program that may be changed."""
    with tempfile.TemporaryDirectory(prefix="dapeer-demo-") as folder:
        yield Path(shutil.copy(program, Path(folder).resolve()))


async def _starts(somebody: Person, shop: Path) -> None:
    """Have the person set a breakpoint in the file `shop`, start it in nvim-dap, and see it stop.

    `somebody` is the scripted person at a Neovim. The program is left stopped at the line `READY`. What the
    person does, and what Neovim shows, is printed.

    Raises:
        UnexpectedBehaviour: Neovim does not start the program, or does not show the stop, within
            `SECONDS_TO_WAIT` each.
        NeovimError: Neovim does not answer, fails, or has ended.
    """
    say(
        "The person sets a breakpoint where the total is asked for, and starts the program in nvim-dap."
    )
    await somebody.breaks_at(shop, READY)
    # In a wheel the program lies among the interpreter's libraries, where debugpy would not stop.
    await somebody.run(shop, justMyCode=False)
    await somebody.sees_stop(READY)
    await _screen(somebody)


async def _joins(client: Client) -> None:
    """Have the assistant find the person's session and see its stop; print its calls and answers.

    `client` is the assistant's MCP client, which is connected to its `dapeer stdio`.

    Raises:
        UnexpectedBehaviour: It sees another stop, or not the person's variable, or a tool answers with an
            error.
        ValueError: It sees no session, or several.
        KeyError: The session has no line or the snapshot no locals, as without a stop.
    """
    say(
        "Now they ask their assistant, whose `dapeer stdio` is attached to this Neovim. It finds the same session."
    )
    status = await call(client, "dap_status")
    (session,) = status["sessions"]
    expect(session["line"] == READY, f"the session should be stopped at line {READY}")
    snapshot = await call(client, "dap_snapshot")
    expect("order" in snapshot["locals"], "the assistant should see the person's `order`")


async def _breakpoint(client: Client, somebody: Person) -> None:
    """Have the assistant set a conditional breakpoint that the person sees, and continue to it.

    Both calls, their answers, and what Neovim shows are printed. It returns when Neovim shows the stop.

    Raises:
        UnexpectedBehaviour: Neovim does not show the breakpoint or the stop, or a tool answers with an error.
        NeovimError: Neovim does not answer, fails, or has ended.
    """
    say(
        "It wants to stop at the last item only. Its breakpoint has a condition, and becomes a sign in Neovim: C."
    )
    condition = "item.name == 'spoon'"
    await call(client, "dap_set_breakpoint", filename=SHOP.name, line=ADD, condition=condition)
    screen = await _screen(somebody)
    expect(f"C    {ADD}" in screen, "Neovim should show the assistant's breakpoint")

    say("It lets the program run there, and the person's cursor follows.")
    await call(client, "dap_continue")
    await somebody.sees_stop(ADD)
    await _screen(somebody)


async def _away(client: Client, seat: Seat, somebody: Person) -> str:
    """Have the assistant go on while Neovim waits for a key of the person; return the text of the cost.

    That is the value of an expression that the assistant evaluates. What both do, and what Neovim shows, is printed.

    Raises:
        UnexpectedBehaviour: The program does not behave as the story says.
    """
    await somebody.types("f")
    state = await seat.wait_until_blocked()
    say(
        f"The person presses `f` to find a letter, and is called away. Neovim {state} and runs nothing until one "
        "comes. The assistant continues all the same."
    )
    cost = await call(
        client, "dap_evaluate", expressions=["item.price * item.quantity, item.cost(self.discount)"]
    )
    expect(cost["result"] == "(10.0, 9.0)", "`cost` should take off the discount")
    stop = await call(client, "dap_step_over")
    expect(stop["line"] != ADD, "the step should go on")

    say(
        "The person is back and presses a key. Neovim catches up: it shows where the program is by now."
    )
    await somebody.types("<Esc>")
    await somebody.sees_stop(stop["line"])
    await somebody.pauses()
    await _screen(somebody)
    return str(cost["result"])


async def _finds(client: Client, seat: Seat, somebody: Person, cost: str) -> None:
    """Have the assistant find the bug while the person types elsewhere, and print the transcript of it.

    `client` calls the tools of the server, as the assistant does; `seat` is the keyboard and screen of the
    person's Neovim, and `somebody` the person there. `cost` is the text of what the assistant has evaluated
    before. The program must be stopped where the story begins; afterwards it has ended.

    Raises:
        UnexpectedBehaviour: The program, Neovim or a tool does not behave as the story says.
    """
    say(
        "`cost` takes the discount off already. What happens to the total? The person writes a note in another "
        "window all the while: the assistant's step takes nothing from under their hands."
    )
    await somebody.types(":botright new<CR>iDoes Ada know ")
    await seat.wait_for_line("Does Ada know ")
    last = await call(client, "dap_step_over")
    expect(last["line"] == TOTAL, f"the step should end at line {TOTAL}")
    await somebody.sees_stop(TOTAL)
    await somebody.types("of this?<Esc>")
    await seat.wait_for_line("Does Ada know of this?")
    show("\n  Their note: Does Ada know of this?")
    await somebody.types(":close!<CR>:Dapeer follow<CR>")
    await seat.wait_for_line(SHOP.read_text(encoding="utf-8").splitlines()[TOTAL - 1])
    await _screen(somebody)
    so_far = float(last["locals"]["total"])
    returned = await call(client, "dap_evaluate", expressions=["total * (1 - self.discount)"])
    expect(float(returned["result"]) < so_far, "the discount should be taken off a second time")
    say(
        "It is taken off a second time. Without that, the program that is running should tell the right amount."
    )
    await call(client, "dap_set_variable", path="self.discount", value="0.0")
    end = await call(client, "dap_continue")
    expect(
        f"{so_far:.2f}" in end.get("output", ""), "the program should print the right amount now"
    )
    await somebody.sees_end()

    say("The person can read what was done in their session: `:Dapeer log`.")
    show("\n".join(shortened(line, WIDTH - 16) for line in await somebody.log()))
    say(
        f"Found: the discount is taken off twice. `Item.cost` does it for each item, {cost}, and `Order.total` does it "
        f"again in line {TOTAL}, so {float(returned['result']):.2f} is asked for. Return `total` there, and it is "
        f"{so_far:.2f}."
    )


async def _screen(somebody: Person) -> str:
    """Print what Neovim shows, and return it."""
    screen = await somebody.screen()
    show(f"\nNeovim shows:\n{screen}")
    return screen


async def review(client: Client, seat: Seat, somebody: Person, shop: Path) -> None:
    """Play the part in which the assistant proposes two fixes of `shop`, and the person accepts both.

    The first fix of that file has a typing error, which the person's linter finds once the file is written. At
    last the assistant calls the person's own tool. What is called and shown is printed.

    Raises:
        UnexpectedBehaviour: It does not go as the story says.
        NeovimError: Neovim does not answer, fails, or has ended.
    """
    await seat.configure(CONFIGURATION.read_text(encoding="utf-8"))
    say("It shows the person what it would change: a diff in Neovim. Both sides of it:")
    await _proposes(client, somebody, shop, TYPO)
    say(
        "The person has not looked closely. The file is written, and their linter, which the assistant can read, says:"
    )
    await somebody.sees("linted")
    wrong = await call(client, "nvim_diagnostics_list", filename=shop.name)
    expect("never closed" in str(wrong), "the linter should find the typo")

    say("So once more.")
    await _proposes(client, somebody, shop, RIGHT)
    await somebody.sees("linted")
    await call(client, "nvim_diagnostics_list", filename=shop.name)
    say(
        "The person has a tool of their own, a dozen lines of Lua in their configuration. The assistant can call it, too."
    )
    await call(client, "nvim_amount_to_pay")


async def _proposes(client: Client, somebody: Person, shop: Path, line: str) -> None:
    """Have the assistant propose a diff with this line, and the person accept it; write the file.

    `line` takes the place of the wrong line in the file `shop`, a copy of the program. `client` is the assistant's
    connection to dapeer, `somebody` the person at the Neovim. The steps are printed. How long the tool takes after
    the person has accepted has no limit here. After an error the file is as it was.

    Raises:
        UnexpectedBehaviour: The diff is not shown within `SECONDS_TO_WAIT`, or the answer is not what was proposed.
    """
    proposal = _with(line, shop)
    arguments = {"new_file_path": str(shop), "new_file_contents": proposal}
    show(f'\n→ nvim_open_diff(new_file_path="{shop.name}", new_file_contents="…")')
    waiting = BackgroundTask(client.call_tool("nvim_open_diff", arguments))
    await somebody.sees("diff")
    show("\n".join(await somebody.looks(lines=10)))
    say("ZZ accepts it.")
    await somebody.types("ZZ")
    await waiting.wait_for_end()
    content = waiting.result().content
    texts = [part.text for part in content if isinstance(part, TextContent)]
    expect(texts == ["FILE_SAVED", proposal], "the person should accept what was proposed")
    show(f"{texts[0]}, and the final text: {len(proposal.splitlines())} lines")
    # What an assistant then does with its own tool for writing files.
    _write(shop, proposal)


def _with(line: str, shop: Path) -> str:
    """Return the text of the file `shop` with `line` in place of the wrong one."""
    text = shop.read_text(encoding="utf-8")
    return text.replace(WRONG if WRONG in text else TYPO, line)


def _write(shop: Path, text: str) -> None:
    shop.write_text(text, encoding="utf-8")
