"""What an exhaustive search of interleavings may leave out, and when its tasks are Spark's."""

from enum import StrEnum


class Reduction(StrEnum):
    """What an exhaustive search of interleavings may leave out."""

    NONE = "none"
    """Nothing: every interleaving is run."""

    SLEEP_SETS = "sleep-sets"
    """Interleavings that are equivalent to one that was run, by the footprints of their steps."""

    OPTIMAL = "optimal"
    """The same interleavings, and what sleep sets do not need, unless events exclude one another."""

    STATES = "states"
    """Futures of declared states that were reached before. Rests on a promise of the program."""

    def text(self) -> str:
        """Return it in words, for a verdict line."""
        return {
            Reduction.NONE: "no reduction",
            Reduction.SLEEP_SETS: "sleep sets",
            Reduction.OPTIMAL: "wakeup trees",
            Reduction.STATES: "equal declared states merged, on the program's promise that they have equal "
            "futures",
        }[self]


ON_SPARK = 200
"""Executions from which on Spark's tasks are worth their start: a second or more of one core."""
