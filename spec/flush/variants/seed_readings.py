"""The eight readings of the seeds: {strict >, >=} x {in-flight rows in the checkpoint or not} x {start
position exclusive, inclusive}.

Seed 001 argues that flushTs must be reset by a strictly greater checkpoint because a sync may still be
running; its GetCheckpoint leaves rows in flight out; and neither seed says whether a start position
includes its row. Each combination is an instance with its own verdicts in the manifest. ``Flush`` itself
is strict, in flight, exclusive.
"""

from tidemark.spec.flush import Flush


class NotStrict(Flush):
    """Reset by a checkpoint at or above flushTs."""

    STRICT = False


class NoInFlight(Flush):
    """Seed 001's GetCheckpoint: rows in flight do not count."""

    IN_FLIGHT = False


class NoInFlightNotStrict(Flush):
    """Seed 001's GetCheckpoint, reset at or above."""

    IN_FLIGHT = False
    STRICT = False


class Inclusive(Flush):
    """Start positions include their row."""

    INCLUSIVE = True


class InclusiveNotStrict(Flush):
    """Start positions include their row, reset at or above."""

    INCLUSIVE = True
    STRICT = False


class InclusiveNoInFlight(Flush):
    """Start positions include their row, rows in flight do not count."""

    INCLUSIVE = True
    IN_FLIGHT = False


class InclusiveNoInFlightNotStrict(Flush):
    """All three at once."""

    INCLUSIVE = True
    IN_FLIGHT = False
    STRICT = False
