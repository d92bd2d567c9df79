"""The kinds of store that differ in when a save is forced, and in which value a read shows."""

from tidemark.spec.language import removed
from tidemark.spec.store import Store


class Transactional(Store):
    """A save is forced in the step that applies it."""

    ATOMIC = True
    force = removed


class Objects(Store):
    """A read shows a value that may vanish: a reader of an object knows that its save was answered."""

    READS_FORCED = False


class KnownObjects(Objects):
    """The view of readers who know that the object is there."""

    what_was_read_is_durable = removed
