"""Command line of the embedded cluster.

``python -m tidemark.impl.cluster`` starts a cluster in a process, lets two clients do the opening example at
every level, kills the process with SIGKILL, starts it again over the same files and reads once more. Exit
code 0 when every answer is what its level promises; 1 when one is not, or the example cannot be completed;
2 for options or a directory that cannot be used; 130 after Ctrl-C. ``serve --dir PATH`` runs a cluster until
its standard input ends; it prints its port as JSON. So does ``oracle``, one role in a process of its own over
the files of a cluster.
"""

import argparse
import asyncio
import importlib.util
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tidemark.impl.client.history import History
from tidemark.impl.cluster.child import Child, child_cluster
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.example import EXPECTED, Story, play, search
from tidemark.impl.cluster.leave import leave_messages
from tidemark.impl.cluster.processes import serve_cluster, serve_oracle
from tidemark.impl.system.command import run_command
from tidemark.impl.values.consistency import ConsistencyLevel

TIME_LIMIT_SECONDS = 120.0
SERVED = ("serve", "oracle")
SIZES = {
    "channels": "physical channels",
    "proxies": "proxies",
    "query_nodes": "query nodes; each serves every channel",
    "segment_rows": "a segment with so many rows gets no more",
    "full_buffer_bytes": "bytes of a segment's buffer from which it is synced",
}
"""Options of the configuration, with their meanings."""


def main(arguments: Sequence[str]) -> int:
    """Run one command. The exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tidemark.impl.cluster", description=__doc__.split("\n\n", maxsplit=1)[0]
    )
    parser.add_argument(
        "command",
        nargs="?",
        choices=("example", *SERVED),
        default="example",
        help="example (the default): the opening example, a kill and a recovery; serve: a cluster until the"
        " input ends; oracle: one of several oracles",
    )
    parser.add_argument("--dir", type=Path, help="directory of the cluster (example: a temporary one)")
    parser.add_argument("--name", default="1", help="of an oracle (default 1)")
    for name, what in SIZES.items():
        default = getattr(ClusterConfig(), name)
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=int, metavar="N", help=f"serve: {what} (default {default})")
    parser.add_argument(
        "--etcd",
        metavar="URL",
        help="serve, oracle: etcd for sessions or the window (default: a file in --dir)",
    )
    parser.add_argument(
        "--log", type=Path, metavar="FILE", help="serve: append lines in Milvus' form to FILE"
    )
    parser.add_argument("--metrics", action="store_true", help="serve: metrics over HTTP, at a second port")
    given = parser.parse_args(arguments)
    if importlib.util.find_spec("pyarrow") is None:
        parser.error("pyarrow is not installed: a cluster needs the part `impl` of tidemark, tidemark[impl]")
    settings = {name: value for name in (*SIZES, "etcd") if (value := getattr(given, name)) is not None}
    if given.command in SERVED:
        if given.dir is None:
            parser.error(f"{given.command} needs --dir PATH: where the cluster keeps its files")
        if given.log and settings.get("query_nodes") != 1:
            parser.error("--log needs --query-nodes 1: a line does not say which query node wrote it")
        return run_command("cluster", lambda: _serve(given, ClusterConfig(**settings)))
    settings |= {name: True for name in ("log", "metrics") if getattr(given, name)}
    if settings:
        option = next(iter(settings)).replace("_", "-")
        parser.error(f"--{option} is an option of serve; the example has a configuration of its own")
    if given.dir is not None and given.dir.exists():
        parser.error(f"--dir {given.dir} is there already; the example needs a new directory")
    if given.dir is not None:
        return run_command("cluster", lambda: example(given.dir))
    with tempfile.TemporaryDirectory(prefix="tidemark-cluster-") as folder:
        return run_command("cluster", lambda: example(Path(folder)))


async def _serve(given: argparse.Namespace, config: ClusterConfig) -> None:
    if given.command == "oracle":
        await serve_oracle(given.dir, given.name, config.etcd)
    else:
        await serve_cluster(given.dir, config, log=given.log, metrics=given.metrics)


async def example(directory: Path) -> int:
    """The opening example at every level, a kill, and the same reads again. The exit code."""
    async with asyncio.timeout(TIME_LIMIT_SECONDS):
        evidence = directory / "evidence"
        evidence.mkdir(parents=True)
        history = evidence / "clients.jsonl"
        async with child_cluster(directory) as child:
            say(f"started in {child.seconds:.1f} s")
            say(f"{'level':<12}{'t2':<8}{'t6':<8}{'t10':<8}{'t14':<8}")
            stories = await _stories(child, history)
            await child.kill()
        async with child_cluster(directory) as child:
            say(f"killed with SIGKILL, recovered in {child.seconds:.1f} s")
            await _read_again(child, stories, history)
            await child.end()
        await leave_messages(directory, evidence / "messages.jsonl", config=ClusterConfig())
    wrong = [sentence for story in stories for sentence in story.wrong]
    for sentence in wrong:
        say(f"  {sentence}")
    judged = sum(story.promises.judged for story in stories)
    say(f"WRONG: {len(wrong)} of {judged} answers" if wrong else f"all {judged} answers are as promised")
    return 1 if wrong else 0


async def _stories(child: Child, history: Path) -> list[Story]:
    writer = await child.client(0, history=History(history, client="client 1", process="p1"))
    reader = await child.client(1, history=History(history, client="client 2", process="p2"))
    stories = []
    for level in ConsistencyLevel:
        story = await play(writer, reader, level, config=ClusterConfig())
        say(story.line())
        stories.append(story)
    await writer.flush(stories[0].collection)
    await writer.close()
    await reader.close()
    return stories


async def _read_again(child: Child, stories: list[Story], history: Path) -> None:
    """A strong read of each collection: acknowledged rows are there, flushed or not."""
    reader = await child.client(1, history=History(history, client="client 3", process="p3"))
    for story in stories:
        await search(reader, story, EXPECTED[-1], level=ConsistencyLevel.STRONG)
    await reader.close()


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
