"""The node without one of the rules that it assumes."""

from tidemark.spec.streaming import Streaming


class Unfenced(Streaming):
    """The log takes what an earlier term appends."""

    FENCED = False
