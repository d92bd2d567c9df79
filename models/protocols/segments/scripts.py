"""What happens in the life of a query node's channel: see ``life``."""

from __future__ import annotations

from tidemark.models.protocols.common.scripted import Script

_LOG = [
    (0, "rows", 10, (1, 3), (1, 0), (2, 1)), (0, "delete", 10, 3), (0, "tick", 10),
    (0, "rows", 15, (2, 2), (2, 5)), (0, "delete", 20, 0, 2), (0, "tick", 20),
]  # fmt: skip
"""Before anything else happens. The delete at 10 does not hit the row at 10."""
_LATER = [
    (0.05, "rows", 30, (1, 0), (2, 4)), (1, "delete", 31, 4), (1, "tick", 31),
    (2, "delete", 40, 1), (2, "delete", 41, 3), (2, "tick", 41),
    (3, "rows", 50, (4, 1)), (3, "tick", 50),
]  # fmt: skip
_STORED = [(-1, "deletes", 20), (1, "flushed", 30), (2, "growing", 15), (3, "dropped", 10)]
_TAKEN = {"log": _LOG + _LATER, "seek": 20, "stored": _STORED}
_READS = [
    (0.5, "read", 20), (0.5, "read", 31), (0.5, "read", 31, 10), (0.5, "read", 41, None, (1, 1, 9)),
    (1.5, "read", 5, 10), (1.5, "read", 31, 15), (1.5, "read", 31, 20), (1.5, "read", 31, 30),
    (3.5, "read", 41, 31), (3.5, "read", 50, 41), (3.5, "read", 0, 40, (1,)), (3.5, "read", 50, None, (3, 0)),
]  # fmt: skip
_DELETES = [(2, "delete", 40, 1), (2, "delete", 41, 0), (2, "delete", 42, 3), (2, "tick", 42)]

SCRIPTS: tuple[Script, ...] = (
    # The stream alone, and with what is stored: reads at every moment.
    {"log": _LOG + _LATER, "does": [(0, "watch"), *_READS]},
    {
        **_TAKEN,
        "does": [(0.1, "watch"), *_READS, (4, "release"), (5, "read", 0), (6, "watch"), (7, "read", 50)],
    },
    {**_TAKEN, "does": [(2.5, "watch"), (3.5, "read", 50), (4, "stop"), (5, "read", 50)]},
    {**_TAKEN, "deltas": {"1": 20, "2": 20}, "does": [(0.1, "watch"), *_READS]},
    {
        **_TAKEN,
        "deltas": {"1": 31, "2": 20},
        "stored": _STORED[1:],
        "does": [(1.5, "watch"), (3.5, "read", 50)],
    },
    # What comes again after the position of a growing segment.
    {
        **_TAKEN,
        "seek": 10,
        "stored": [(1, "growing", 10), (2, "growing", 15)],
        "does": [(0.1, "watch"), *_READS],
    },
    {
        **_TAKEN,
        "seek": 10,
        "stored": [(1, "growing", 10), (2, "growing", 10)],
        "does": [(0.1, "watch"), (3.5, "read", 50)],
    },
    # Loads: beside the stream, with files late, again, and refused.
    {
        "log": _LOG + _LATER,
        "does": [
            (0, "watch"),
            (1.4, "load", 1, 30, 10),
            (1.5, "load", 2, 30, 0, "growing"),
            (1.6, "load", 2, 30, 20),
            (2.5, "trim", 31),
            (2.6, "load", 1, 30, 20),
            (2.7, "load", 1, 30, 31),
            (2.8, "trim", 20),
            *_READS,
            (3.6, "trim", 41),
            (3.7, "load", 4, 50, 41),
            (3.8, "trim", 41),
            (3.9, "read", 50),
        ],
    },
    {
        "log": _LOG + _LATER[:3] + _DELETES,
        "slow": "load.replay",
        "does": [
            (0, "watch"),
            (1.5, "load", 1, 30, 10),
            (1.7, "trim", 31),
            (3, "trim", 31),
        ],
    },
    {
        "log": _LOG + _LATER[:3] + _DELETES,
        "rows 1": ["late ok"],
        "rows 2": ["late ok"],
        "does": [
            (0, "watch"),
            (1.5, "load", 1, 30, 10),
            (1.5, "load", 2, 30, 10),
            (1.6, "trim", 31),
            (9, "trim", 31),
            (10, "load", 1, 30, 20),
            (11, "read", 42),
        ],
    },
    # A message deletes more keys than a load takes at a time; a read of no keys.
    {
        "log": [*_LOG, (1, "delete", 31, 2, 5, 1, 3), (1, "tick", 31)],
        "does": [(0, "watch"), (1.5, "load", 2, 20, 20), (2, "read", 31), (2, "read", 31, 20, ())],
    },
    # Two segments of level zero, the later one first; a row between their deletes of its key.
    {
        "log": [
            (0, "rows", 10, (1, 0)),
            (0, "delete", 12, 0),
            (0, "rows", 15, (1, 0)),
            (0, "delete", 20, 0),
            (0, "tick", 20),
        ],
        "seek": 20,
        "stored": [(-2, "deletes", 20, 12), (-1, "deletes", 12), (1, "growing", 20)],
        "does": [(0.1, "watch"), (0.5, "read", 20)],
    },
    # Two loads need deletes from different timestamps on: the lesser one holds a trim back.
    {
        "log": _LOG + _LATER[:3],
        "rows 1": ["late ok"],
        "rows 2": ["late ok"],
        "does": [
            (0, "watch"),
            (1.5, "load", 1, 30, 10),
            (1.5, "load", 2, 30, 31),
            (1.6, "trim", 31),
            (9, "read", 31),
        ],
    },
    {
        **_TAKEN,
        "rows 1": ["fail"],
        "does": [(0, "load", 4, 50, 0), (0.1, "trim", 20), (0.2, "watch"), (0.4, "release"), (0.5, "stop")],
    },
    {
        "log": _LOG + _LATER,
        "rows 1": ["fail", "broken", "ok"],
        "does": [
            (0, "watch"),
            (1.2, "load", 1, 30, 10),
            (1.4, "load", 1, 30, 10),
            (1.5, "trim", 31),
            (1.6, "load", 1, 30, 31),
            (3.5, "read", 50),
        ],
    },
    # Files that cannot be read when the channel is taken up; it is taken up anew.
    {**_TAKEN, "rows 1": ["fail", "ok"], "does": [(0.1, "watch"), (3.5, "read", 50)]},
    {**_TAKEN, "rows 1": ["fail", "fail", "ok"], "does": [(0.1, "watch"), (0.5, "watch"), (3.5, "read", 50)]},
    {**_TAKEN, "rows 1": ["broken", "ok"], "does": [(0.1, "watch"), (0.5, "watch"), (3.5, "read", 50)]},
    {**_TAKEN, "rows 2": ["fail", "ok"], "does": [(0.1, "watch"), (0.5, "watch"), (3.5, "read", 50)]},
    {**_TAKEN, "deletes -1": ["fail", "ok"], "does": [(0.1, "watch"), (0.5, "watch"), (3.5, "read", 50)]},
    # Released, cancelled, read and taken up a second time meanwhile.
    {
        **_TAKEN,
        "rows 1": ["late ok"],
        "does": [(0.1, "watch"), (0.3, "read", 0), (1.5, "release"), (2.5, "watch")],
    },
    {
        **_TAKEN,
        "rows 2": ["late ok"],
        "does": [(0.1, "watch"), (0.2, "watch"), (1.5, "release"), (2.5, "watch")],
    },
    {
        **_TAKEN,
        "rows 2": ["late ok"],
        "does": [(0.1, "watch"), (0.2, "trim", 20), (1.5, "cancel"), (2.5, "watch")],
    },
    {**_TAKEN, "rows 1": ["late ok"], "does": [(0.1, "watch"), (1.5, "cancel"), (2.5, "trim", 20)]},
    {
        **_TAKEN,
        "stored": [(-1, "deletes", 20), (1, "flushed", 30), (2, "growing", 15)],
        "rows 2": ["late ok"],
        "does": [(1.5, "watch"), (1.6, "load", 2, 30, 20), (3.5, "read", 50)],
    },
    {**_TAKEN, "rows 1": ["late ok"], "does": [(0.1, "watch"), (0.2, "trim", 31), (0.3, "load", 2, 15, 20)]},
    # Reads: too far ahead, at a standstill, too late, released.
    {
        "log": [(1, "tick", 10), (2, "tick", 20)],
        "does": [
            (0, "watch"),
            (0.5, "read", 999, None, None, 1),
            (1.2, "read", 110),
            (1.3, "read", 111),
            (1.5, "read", 50, None, None, 2),
            (1.5, "read", 50),
            (3, "read", 50, None, None, 9),
            (6, "read", 20),
            (6.5, "read", 21, None, None, 5),
        ],
    },
    {"log": _LOG, "does": [(0, "watch"), (1, "read", 50), (1, "read", 60), (2, "release"), (3, "release")]},
    {"log": _LOG, "slow": "tsafe.check", "does": [(0, "watch"), (1, "read", 20), (2, "release")]},
    {
        "log": _LOG + _LATER[:3],
        "slow": "tsafe.check",
        "does": [(0, "watch"), (0.5, "read", 31), (2, "release")],
    },
    {
        "log": _LOG + _LATER[:3],
        "slow": "read.collect",
        "does": [(0, "watch"), (0.5, "read", 20), (2, "release")],
    },
    {"log": _LOG, "slow": "tsafe.check", "does": [(0, "watch"), (0.5, "read", 60), (2, "release")]},
    # Each other point lasts.
    {**_TAKEN, "slow": "recover.load", "does": [(0.1, "watch"), (3.5, "read", 50)]},
    {**_TAKEN, "slow": "recover.tsafe", "does": [(0.1, "watch"), (1.5, "release")]},
    {**_TAKEN, "slow": "pipeline.tsafe", "does": [(0.1, "watch"), (1.5, "release")]},
    {
        "log": _LOG + _LATER,
        "slow": "pipeline.insert",
        "does": [(0, "watch"), (1.5, "load", 1, 30, 10), (2, "read", 20)],
    },
    # Dispatchers, and a log that breaks.
    {
        **_TAKEN,
        "dispatchers": True,
        "does": [(0.1, "watch"), *_READS, (4, "release"), (5, "watch"), (6, "read", 50), (7, "stop")],
    },
    {**_TAKEN, "dispatchers": True, "rows 1": ["broken", "ok"], "does": [(0.1, "watch"), (0.5, "watch")]},
    {**_TAKEN, "read": ["ok", "broken"], "does": [(0.1, "watch"), (1, "release")]},
    {**_TAKEN, "dispatchers": True, "read": ["ok", "broken"], "does": [(0.1, "watch"), (1, "read", 20)]},
)
"""Each is explored by itself."""
