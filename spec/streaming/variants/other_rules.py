"""The node without one of the rules that it assumes."""

from tidemark.spec.streaming import Streaming


class Unfenced(Streaming):
    """The log takes what an earlier term appends."""

    FENCED = False


class Unlocked(Streaming):
    """A tick is collected between the draw of a timestamp and its entry."""

    LOCKED = False


class CountsAsFailed(Streaming):
    """An append whose outcome is unknown counts as failed."""

    CLOSES = False
