"""The demonstration of the oracle: ``python -m tidemark.impl.demo.oracle``.

Two oracle processes share a store, one of them leads. Clients ask for timestamps; the leader is killed with
SIGKILL; the other one takes over when the lease has ended. Then every timestamp is checked: none may have
been handed out twice, and of two calls of which one ended before the other began the later one must have the
greater timestamps. Exit code 0 if so, 1 otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tidemark.impl.errors import StoreError
from tidemark.impl.storage.etcd_server import EtcdServer
from tidemark.impl.system.command import run_command

NAMES = ("a", "b")
_PATIENCE = 0.01
_LONGEST = 60.0


@dataclass(frozen=True)
class Call:
    """An answered call. ``begun`` and ``ended`` are places in the order of all beginnings and ends."""

    server: str
    begun: int
    ended: int
    first: int
    last: int


@dataclass
class Story:
    """The calls and the gap."""

    calls: list[Call] = field(default_factory=list)
    refused: int = 0
    gap: float = 0.0
    """Seconds without an answer when the leader was killed."""
    news: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Running:
    """A process and the port on which it answers."""

    name: str
    process: asyncio.subprocess.Process
    port: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration. Returns 0 if every timestamp is unique and in order, and both have led."""
    parser = argparse.ArgumentParser(
        prog="python -m tidemark.impl.demo.oracle", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--store", choices=("sqlite", "etcd"), default="sqlite", help="where the window is")
    parser.add_argument("--clients", type=int, default=4, help="how many ask at the same time")
    parser.add_argument("--batch", type=int, default=10, help="timestamps of a call")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each leader's term")
    given = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tidemark-oracle-")))
        where = str(folder / "oracle")
        if given.store == "etcd":
            try:
                where = stack.enter_context(EtcdServer(folder)).endpoint
            except (StoreError, TimeoutError) as failure:
                print(f"demo: {failure}", file=sys.stderr)
                return 1

        async def told() -> int:
            story = await tell(where, clients=given.clients, batch=given.batch, seconds=given.seconds)
            return judge(story)

        return run_command("demo", told)


async def tell(where: str, *, clients: int, batch: int, seconds: float) -> Story:
    """Let two servers take turns. ``where``: address of etcd, or file of SQLite."""
    story = Story()
    servers = [await _start(name, where) for name in NAMES]
    order = itertools.count()
    asking = [asyncio.create_task(_ask(servers, story, order, batch)) for _ in range(clients)]
    try:
        await _until(story, lambda: bool(story.calls))
        await asyncio.sleep(seconds)
        leader = next(server for server in servers if server.name == story.calls[-1].server)
        leader.process.kill()
        await leader.process.wait()
        before, begin = len(story.calls), asyncio.get_running_loop().time()
        await _until(story, lambda: any(call.server != leader.name for call in story.calls[before:]))
        story.gap = asyncio.get_running_loop().time() - begin
        await asyncio.sleep(seconds)
    finally:
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        for server in servers:
            with suppress(ProcessLookupError):
                server.process.kill()
            await server.process.wait()
    return story


async def _start(name: str, where: str) -> Running:
    command = [sys.executable, "-m", "tidemark.impl.demo.oracle_process", "--name", name, "--store", where]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    return Running(name, process, int(await process.stdout.readline()))


async def _until(story: Story, condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(_LONGEST):
        while not condition():
            story.news.clear()
            await story.news.wait()


async def _ask(servers: Sequence[Running], story: Story, order: itertools.count[int], batch: int) -> None:
    for server in itertools.cycle(servers):
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            try:
                while True:
                    begun = next(order)
                    writer.write(f"{batch}\n".encode())
                    answer = await reader.readuntil(b"\n")
                    if answer.startswith(b"!"):
                        story.refused += 1
                        break
                    first, last = map(int, answer.split())
                    story.calls.append(Call(server.name, begun, next(order), first, last))
                    story.news.set()
            finally:
                writer.close()
        await asyncio.sleep(_PATIENCE)


def judge(story: Story) -> int:
    """Print the findings; 0 if all is right."""
    twice, disordered = doubled(story.calls), out_of_order(story.calls)
    for name in NAMES:
        mine = [call for call in story.calls if call.server == name]
        print(f"server {name}: {len(mine)} calls answered")
    print(f"without an answer when the leader was killed: {story.gap:.1f} s")
    print(f"handed out twice: {twice}")
    print(f"out of order: {disordered}")
    both = {call.server for call in story.calls} == set(NAMES)
    print("ok" if both and not twice and not disordered else "WRONG")
    return 0 if both and not twice and not disordered else 1


def doubled(calls: Sequence[Call]) -> int:
    """How many batches begin before the one before them in number ends."""
    batches = sorted((call.first, call.last) for call in calls)
    return sum(later[0] <= earlier[1] for earlier, later in itertools.pairwise(batches))


def out_of_order(calls: Sequence[Call]) -> int:
    """How many calls have got a timestamp below one that was answered before they began."""
    ends = sorted((call.ended, call.last) for call in calls)
    found, greatest, place = 0, 0, 0
    for call in sorted(calls, key=lambda call: call.begun):
        while place < len(ends) and ends[place][0] < call.begun:
            greatest = max(greatest, ends[place][1])
            place += 1
        found += call.first <= greatest
    return found


if __name__ == "__main__":
    sys.exit(main())
