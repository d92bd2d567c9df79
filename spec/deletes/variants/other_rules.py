"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.deletes import Deletes


class CheckpointPassesDeletes(Deletes):
    """The checkpoint waits for rows alone."""

    DELETES_PIN = False
