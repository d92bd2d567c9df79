"""Command line: ``python -m tidemark.impl.demo [--rows N] [--segments N] [--seed N] [--dir PATH] [--keep]``.

Exit code 0 when no row was lost or doubled, 1 when one was or the demonstration could not be completed, 2 for
options or a directory that cannot be used, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from tidemark.impl.demo.story import Options, Story
from tidemark.impl.system.command import is_free, run_command

TIME_LIMIT_SECONDS = 120.0


def parse(arguments: list[str]) -> tuple[Options, bool]:
    """The options, and whether the files are kept. Ends the process with code 2 for bad ones."""
    parser = argparse.ArgumentParser(
        prog="python -m tidemark.impl.demo", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("--rows", type=int, default=4000, help="rows to ingest (default 4000)")
    parser.add_argument("--segments", type=int, default=4, help="segments to spread them over (default 4)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the rows and of the kill (default 1)")
    parser.add_argument("--dir", type=Path, help="an empty directory to work in (default: a temporary one)")
    parser.add_argument("--keep", action="store_true", help="keep the files of a temporary directory")
    given = parser.parse_args(arguments)
    if given.segments < 1:
        parser.error(f"--segments is {given.segments}; it must be at least 1")
    if given.rows < 100 * given.segments:
        parser.error(f"--rows is {given.rows}; give at least 100 for each of the {given.segments} segments")
    if given.dir is not None and not is_free(given.dir):
        parser.error(f"--dir {given.dir} is not an empty directory; name another one")
    directory = given.dir if given.dir is not None else Path(tempfile.mkdtemp(prefix="tidemark-demo-"))
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        parser.error(f"--dir {directory} cannot be made: {failure.strerror}")
    options = Options(rows=given.rows, segments=given.segments, directory=directory, seed=given.seed)
    return options, given.keep or given.dir is not None


async def play(options: Options) -> int:
    """The exit code: 0 if the store holds exactly the log at the end."""
    async with asyncio.timeout(TIME_LIMIT_SECONDS):
        result = await Story(options).play()
    for finding in (*result.problems, *result.missing, *result.doubled, *result.invented)[:5]:
        sys.stdout.write(f"  {finding}\n")
    sys.stdout.write("Nothing lost, nothing doubled.\n" if result.clean else "FAILED: see above.\n")
    return 0 if result.clean else 1


def main(arguments: list[str]) -> int:
    """Play the demonstration. The exit code."""
    options, keep = parse(arguments)
    try:
        return run_command("demo", lambda: play(options))
    finally:
        if keep:
            sys.stdout.write(f"Files are in {options.directory}.\n")
        else:
            shutil.rmtree(options.directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
