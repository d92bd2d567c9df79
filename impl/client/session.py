"""The session of a client: the greatest timestamp of its writes and answers."""

from tidemark.impl.timestamp import ZERO, Timestamp


class Session:
    """A session read carries ``timestamp`` along, to any proxy. Its client then sees its own writes, and
    never an older state than before. (The clients of Milvus note their writes only.)
    """

    def __init__(self) -> None:
        self.timestamp: Timestamp = ZERO

    def wrote(self, ts: Timestamp) -> None:
        """A write was acknowledged."""
        self._note(ts)

    def saw(self, moment: Timestamp) -> None:
        """A read was answered."""
        self._note(moment)

    def _note(self, ts: Timestamp) -> None:
        self.timestamp = max(self.timestamp, ts)
