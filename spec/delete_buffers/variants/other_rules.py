"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.delete_buffers import DeleteBuffers


class CheckpointPassesDeletes(DeleteBuffers):
    """The checkpoint looks at the rows of a segment, and not at its deletes."""

    DELETES_PIN = False
