"""Errors of the exploring side. Each one names what was expected, what was seen, and what to do."""

from collections.abc import Sequence

from tidemark.checks.verdicts.errors import BadInputError, CheckError
from tidemark.checks.verdicts.exit_codes import ExitCode

CAUSES = (
    "iteration over a set; id() or hash() in a decision; state in a module or a class that outlives an "
    "execution; a finaliser run by the garbage collector; a real clock or random number; code that changed "
    "since the recording"
)


class CorruptTokenError(BadInputError):
    """A replay token cannot be read: damaged, cut short, or of another version."""


class WrongProgramError(BadInputError):
    """A replay token was recorded with another program."""


class DivergenceError(BadInputError):
    """A replay met another set of enabled events than the recording.

    Attributes:
        step: number of the step, counted from 0.
        expected: labels of the enabled events in the recording; empty if only a fingerprint of them is known.
        seen: labels of the enabled events now.
    """

    def __init__(self, *, step: int, expected: Sequence[str], seen: Sequence[str]) -> None:
        self.step = step
        self.expected = tuple(expected)
        self.seen = tuple(seen)
        was = "; ".join(expected) if expected else "something else (the token holds a fingerprint only)"
        now = "; ".join(seen) if seen else "nothing"
        super().__init__(
            f"the replay diverges at step {step}: enabled were: {was}. Enabled now: {now}",
            remedy=f"look for the usual causes: {CAUSES}",
        )


class NondeterminismError(CheckError):
    """The same picks led to two different executions: no result about the program can be trusted."""

    exit_code = ExitCode.INCONCLUSIVE

    def __init__(self, message: str) -> None:
        super().__init__(message, remedy=f"remove the cause, which usually is one of: {CAUSES}")


class OrderError(AssertionError):
    """A coroutine function fails in some order of its steps. The message tells which, and its token.

    Attributes:
        token: the replay token of that order.
    """

    def __init__(self, message: str, *, token: str) -> None:
        super().__init__(message)
        self.token = token


class IncompleteSearchError(CheckError):
    """A search that was to be complete was cut by a limit. Nothing wrong was seen: that is no pass."""

    exit_code = ExitCode.INCONCLUSIVE


class CannotBeExploredError(CheckError):
    """The program uses what the simulation refuses, such as a thread or a real clock: nothing is known of
    it.
    """

    exit_code = ExitCode.INCONCLUSIVE


class UnsoundReductionError(CheckError):
    """The reduction left out something that it must not leave out: what the program says of itself (what its
    steps touch, what it observes, what it declares) is not so. Nothing is known of the program.

    Attributes:
        picks: the choices of an execution that shows it; none if it shows only in a whole search.
    """

    exit_code = ExitCode.INCONCLUSIVE

    def __init__(self, message: str, *, remedy: str, picks: tuple[int, ...] = ()) -> None:
        super().__init__(message, remedy=remedy)
        self.picks = picks
