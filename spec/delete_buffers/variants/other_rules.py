"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.delete_buffers import DeleteBuffers


class CheckpointPassesDeletes(DeleteBuffers):
    """The checkpoint waits for the rows of a segment, and not for its deletes."""

    DELETES_PIN = False
