"""Ticks that come for ever, for claims of liveness."""

from tidemark.spec.language import Bool, ite, removed, require
from tidemark.spec.proxy import Proxy


class TicksForever(Proxy):
    """The oracle counts up by one, and repeats itself for a tick when no other client has asked."""

    others_allocate = removed

    def stamp(s, t: Proxy.Task, ts: Proxy.Ts) -> None:
        require(ts == s.issued + 1)
        super().stamp(t, ts)

    def nobody_asked_since(s) -> Bool:
        """The greatest timestamp is the last tick's."""
        return s.issued == s.default

    def stamp_now(s, ts: Proxy.Ts) -> None:
        require(s.tick == "asked")
        require(ts == ite(s.nobody_asked_since() & (s.issued > 0), s.issued, s.issued + 1))
        s.issued = ts
        s.now = ts
        s.now_floor = 0
        s.tick = "stamped"
