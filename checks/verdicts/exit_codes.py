"""The exit codes of ``tidemark``: one number per class of result, fixed for ever.

This table is the only place where the numbers stand. Scripts and continuous integration compare the exact
number, so that a missing tool can never be mistaken for an expected counterexample.
"""

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """Process exit status by class of result."""

    AS_EXPECTED = 0
    UNEXPECTED_REFUTATION = 1
    MISSING_REFUTATION = 2
    INCONCLUSIVE = 3
    VACUOUS_OR_UNPINNED = 4
    BAD_INPUT = 5
    MISSING_TOOL = 6
    STOPPED = 7
    INTERNAL_ERROR = 70


MEANING: dict[ExitCode, str] = {
    ExitCode.AS_EXPECTED: "every verdict is exactly the expected one",
    ExitCode.UNEXPECTED_REFUTATION: "a property that was expected to hold is refuted",
    ExitCode.MISSING_REFUTATION: "something that had to be refuted was not (a mutant survived, say)",
    ExitCode.INCONCLUSIVE: "no decision: time-out, solver UNKNOWN, truncated search, or weaker than expected",
    ExitCode.VACUOUS_OR_UNPINNED: "vacuous check, or a property id or count that differs from the manifest",
    ExitCode.BAD_INPUT: "bad input: manifest, judged text, option, bound, replay token, folder",
    ExitCode.MISSING_TOOL: "a tool is missing or unreachable (Java, Spark master, Python package)",
    ExitCode.STOPPED: "stopped by the user; what was done is saved",
    ExitCode.INTERNAL_ERROR: "internal error of tidemark itself",
}

_MOST_SEVERE_FIRST = (
    ExitCode.INTERNAL_ERROR,
    ExitCode.STOPPED,
    ExitCode.BAD_INPUT,
    ExitCode.MISSING_TOOL,
    # A counterexample is real whatever else went wrong. A pin that differs says that another thing was run
    # than the one that was agreed, which explains a missing refutation; so it is reported before that.
    ExitCode.UNEXPECTED_REFUTATION,
    ExitCode.VACUOUS_OR_UNPINNED,
    ExitCode.MISSING_REFUTATION,
    ExitCode.INCONCLUSIVE,
    ExitCode.AS_EXPECTED,
)


def most_severe(codes: Iterable[ExitCode]) -> ExitCode:
    """The code of a whole run: the most severe of its parts; no parts at all is vacuous, never success."""
    present = set(codes)
    for code in _MOST_SEVERE_FIRST:
        if code in present:
            return code
    return ExitCode.VACUOUS_OR_UNPINNED


def table() -> str:
    """The table of codes as text, one line per code."""
    return "\n".join(f"{code.value:>3}  {MEANING[code]}" for code in ExitCode)
