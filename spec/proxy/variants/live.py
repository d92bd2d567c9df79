"""Ticks that come for ever, for claims of liveness."""

from tidemark.spec.language import ite, require
from tidemark.spec.proxy import Proxy


class TicksForever(Proxy):
    """The oracle counts up by one, and repeats itself for a tick when no other client has asked."""

    others_allocate = None

    def stamp(s, t, ts):
        require(ts == s.issued + 1)
        super().stamp(t, ts)

    def nobody_asked_since(s):
        """The greatest timestamp is the last tick's."""
        return s.issued == s.default

    def stamp_now(s, ts):
        require(s.tick == "asked")
        require(ts == ite(s.nobody_asked_since() & (s.issued > 0), s.issued, s.issued + 1))
        s.issued = ts
        s.now = ts
        s.now_floor = 0
        s.tick = "stamped"
