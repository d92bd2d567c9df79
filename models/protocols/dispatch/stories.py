"""The stories of ``life``: what happens when, and what has to be seen.

An event is the seconds after the beginning, a kind, and what it is about:

- ``put``: messages that are appended to the log;
- ``come``, ``come slowly``: targets with the place and the timestamp of their positions. A slow one takes a
  pack at each ``take``;
- ``leave``: a target goes; ``stop``: the manager ends; ``break``: the log can be read no more.

Targets have room for one pack, and 3 s to make room for the next one.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.types import Row
from tidemark.impl.values.messages import InsertMessage, Tick
from tidemark.models.protocols.common.scripted import Script

SERVED = "each_target_is_served_in_its_time"
"""Claim id: what each target gets, when, who serves it, and what it is told at its end."""
LOOKS = "who_waits_looks_when_something_has_changed"
"""Claim id: whoever waits for a condition looks again at each change, and not without one."""

A, B, C = "1v0", "1v1", "2v0"


def _row(ts: int, name: str) -> InsertMessage:
    return InsertMessage(ts, f"dml_0_{name}", (Row(ts, 3, ts),))


_SLOW_FIRST: tuple[tuple[Any, ...], ...] = (
    (0, "come slowly", (A, 0, 0)),
    (0, "come", (B, 0, 0)),
    (1, "put", Tick(1)),
    (2, "put", Tick(2)),
)
SCRIPTS: tuple[Script, ...] = (
    # Who waits looks again at each of two changes, until it need not wait.
    {"looks": (("a", 1), ("b", 2), ("c", 0), ("d", 3)),
     "due": ("0: a looks", "0: b looks", "0: c looks", "0: c goes on", "0: d looks", "1: a looks",
             "1: a goes on", "1: b looks", "1: d looks", "2: b looks", "2: b goes on", "2: d looks")},
    # All take their packs at once. A channel is there once; nothing happens if one goes that is not there.
    {"story": ((0, "come", (A, 0, 0), (B, 0, 0), (A, 0, 0)), (0.5, "leave", C),
               (1, "put", _row(1, A), _row(2, B), Tick(2)), (2, "put", Tick(3), _row(4, A), Tick(4)),
               (3, "leave", A), (4, "put", Tick(5))),
     "due": ("0: 1v0 is refused", "0: 1v0 is served by main", "0: 1v1 is served by main",
             "1: 1v0 gets 0-2 1", "1: 1v1 gets 0-2 2", "2: 1v0 gets 2-3", "2: 1v0 gets 3-4 4",
             "2: 1v1 gets 2-3", "2: 1v1 gets 3-4", "3: 1v0 is told that it is gone",
             "3: 1v0 is served by nobody any more", "4: 1v1 gets 4-5")},
    # The last of two takes nothing and is split off when its time is over. It catches up and is merged.
    {"story": ((0, "come", (A, 0, 0)), (0, "come slowly", (B, 0, 0)), (1, "put", _row(1, B), Tick(1)),
               (2, "put", Tick(2)), (10, "put", _row(3, B), Tick(3)), (20, "take", B), (21, "take", B),
               (22, "take", B), (23, "take", B), (30, "put", Tick(4))),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "1: 1v0 gets 0-1",
             "2: 1v0 gets 1-2", "5: 1v1 is served by a deputy", "10: 1v0 gets 2-3", "20: 1v1 gets 0-1 1",
             "21: 1v1 gets 1-2", "21: 1v1 is served by main", "22: 1v1 gets 2-3 3", "30: 1v0 gets 3-4",
             "30: 1v1 gets 3-4")},
    # The first of two: the other one waits for it, until it is split off, takes a pack in time, or goes.
    {"story": (*_SLOW_FIRST,),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "1: 1v1 gets 0-1",
             "5: 1v0 is served by a deputy", "5: 1v1 gets 1-2")},
    {"story": (*_SLOW_FIRST, (4.75, "take", A)),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "1: 1v1 gets 0-1",
             "4.75: 1v0 gets 0-1", "4.75: 1v1 gets 1-2")},
    {"story": (*_SLOW_FIRST, (3, "leave", A)),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "1: 1v1 gets 0-1",
             "3: 1v0 is served by nobody any more", "3: 1v1 gets 1-2")},
    # It goes, or takes a pack, just when its time is over.
    {"story": ((0, "come slowly", (A, 0, 0)), (0, "come", (B, 0, 0), (C, 0, 0)), (1, "put", Tick(1)),
               (2, "put", Tick(2))), "race": (("leave", A),),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "0: 2v0 is served by main",
             "1: 1v1 gets 0-1", "1: 2v0 gets 0-1", "5: 1v0 is served by nobody any more",
             "5: 1v1 gets 1-2", "5: 2v0 gets 1-2")},
    {"story": (*_SLOW_FIRST,), "race": (("leave", A),),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "1: 1v1 gets 0-1",
             "5: 1v0 is served by nobody any more", "5: 1v1 gets 1-2")},
    {"story": (*_SLOW_FIRST, (6, "put", Tick(3))), "race": (("take", A),),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "1: 1v1 gets 0-1", "5: 1v0 takes",
             "5: 1v1 gets 1-2", "9: 1v0 is served by a deputy", "9: 1v1 gets 2-3")},
    # The only one has all time, also if the other one goes meanwhile.
    {"story": ((0, "come slowly", (A, 0, 0)), (1, "put", Tick(1)), (2, "put", Tick(2)), (20, "take", A),
               (30, "take", A)),
     "due": ("0: 1v0 is served by main", "20: 1v0 gets 0-1", "30: 1v0 gets 1-2")},
    {"story": (*_SLOW_FIRST, (3, "leave", B), (20, "take", A)),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "1: 1v1 gets 0-1",
             "3: 1v1 is told that it is gone", "3: 1v1 is served by nobody any more", "20: 1v0 gets 0-1")},
    # Of three two are slow: one after the other is split off.
    {"story": ((0, "come slowly", (A, 0, 0), (C, 0, 0)), (0, "come", (B, 0, 0)), (1, "put", Tick(1)),
               (2, "put", Tick(2))),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "0: 2v0 is served by main",
             "1: 1v1 gets 0-1", "5: 1v0 is served by a deputy", "8: 1v1 gets 1-2",
             "8: 2v0 is served by a deputy")},
    # Two begin at different positions. One comes later, and is merged when the main dispatcher is there.
    {"story": ((0, "come", (A, 0, 0), (B, 4, 2)), (0.5, "leave", A), (1, "come", (C, 2, 1)),
               (2, "put", _row(1, B), Tick(1))),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "0.5: 1v0 is told that it is gone",
             "0.5: 1v0 is served by nobody any more", "1: 2v0 is served by a deputy",
             "2: 2v0 is served by main")},
    {"story": ((0, "put", _row(1, A), Tick(1), _row(2, B), Tick(2)), (1, "come", (A, 2, 1), (B, 0, 0)),
               (2, "come", (C, 0, 0)), (3, "put", Tick(3))),
     "due": ("1: 1v0 gets 1-2", "1: 1v0 is served by main", "1: 1v1 gets 0-1", "1: 1v1 gets 1-2 2",
             "1: 1v1 is served by main", "2: 2v0 gets 0-1", "2: 2v0 gets 1-2",
             "2: 2v0 is served by main", "3: 1v0 gets 2-3", "3: 1v1 gets 2-3", "3: 2v0 gets 2-3")},
    # The main dispatcher ends with its last target, and another one begins for the next.
    {"story": (*_SLOW_FIRST, (6, "leave", B), (7, "come", (C, 1, 1)), (8, "put", Tick(3)), (9, "take", A),
               (10, "take", A), (11, "take", A), (12, "put", Tick(4)), (13, "leave", C), (14, "leave", A)),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "1: 1v1 gets 0-1",
             "5: 1v0 is served by a deputy", "5: 1v1 gets 1-2", "6: 1v1 is told that it is gone",
             "6: 1v1 is served by nobody any more", "7: 1v0 is served by main", "7: 2v0 gets 1-2",
             "7: 2v0 is served by main", "9: 1v0 gets 0-1", "9: 2v0 gets 2-3", "10: 1v0 gets 1-2",
             "11: 1v0 gets 2-3", "12: 2v0 gets 3-4", "13: 2v0 is told that it is gone",
             "13: 2v0 is served by nobody any more", "14: 1v0 is served by nobody any more")},
    # The end of all; and a log that fails.
    {"story": (*_SLOW_FIRST, (6, "stop",), (7, "put", Tick(3)), (8, "take", A)),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "1: 1v1 gets 0-1",
             "5: 1v0 is served by a deputy", "5: 1v1 gets 1-2", "6: 1v0 is served by nobody any more",
             "6: 1v1 is told that it is gone", "6: 1v1 is served by nobody any more", "6: stopped",
             "8: 1v0 is told that it is gone")},
    {"story": (*_SLOW_FIRST, (3, "stop",), (7, "put", Tick(3)), (8, "take", A)),
     "due": ("0: 1v0 is served by main", "0: 1v1 is served by main", "1: 1v1 gets 0-1",
             "3: 1v0 is served by nobody any more", "3: 1v1 is told that it is gone",
             "3: 1v1 is served by nobody any more", "3: stopped", "8: 1v0 is told that it is gone")},
    {"story": ((0, "come", (A, 0, 0)), (1, "put", Tick(1)), (2, "break",), (3, "stop",)),
     "due": ("0: 1v0 is served by main", "1: 1v0 gets 0-1", "2: StoreError",
             "3: 1v0 is told that it is gone", "3: 1v0 is served by nobody any more", "3: stopped")},
)  # fmt: skip
"""Each is explored by itself."""
