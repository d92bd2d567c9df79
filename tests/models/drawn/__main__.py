"""``python -m tests.models.drawn``: protocols of many seeds through all engines, for a night."""

import argparse
import shutil
import sys
from collections import Counter
from functools import partial
from multiprocessing import get_context

from tests.models.drawn.compare import EVERY, portion


def main() -> int:
    """Exit status 1 if any engine disagrees."""
    parser = argparse.ArgumentParser(prog="python -m tests.models.drawn", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="seeds")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", "-j", type=int, default=1, help="processes")
    parser.add_argument("--spin", type=int, default=20, help="Spin judges every so many-th; 0: none")
    given = parser.parse_args()
    every = EVERY | {"z3": 1, "spin": given.spin if shutil.which("spin") and shutil.which("gcc") else 0}
    end = given.first + given.count
    portions = [range(at, min(at + 50, end)) for at in range(given.first, end, 50)]
    found, seen = 0, Counter[str]()
    with get_context("spawn").Pool(given.jobs, maxtasksperchild=8) as pool:
        for texts, part in pool.imap(partial(portion, every=every), portions):
            found += len(texts)
            seen.update(part)
            print(*texts, sep="\n", end="\n" * bool(texts), flush=True)
            print(f"{seen['native']} of {given.count}", end="\r", file=sys.stderr)
    shown = ", ".join(f"{name}: {number}" for name, number in sorted(seen.items()))
    print(f"{given.count} protocols, {found} disagreements; {shown}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
