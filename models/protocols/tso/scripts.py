"""What happens in the life of a server of the oracle and its store: see ``life``."""

from __future__ import annotations

from tidemark.models.protocols.common.scripted import Script

SCRIPTS: tuple[Script, ...] = (
    # The lease: renewed, not renewed, renewed late, and refused.
    {"renew": ["ok", "fail", "ok", "ok", "fail"], "asks": [[0.5, 1], [11, 3], [21, 1], [29, 1], [30, 1]]},
    {"renew": ["fail"], "asks": [[9.5, 1], [10, 1], [10.5, 1]]},
    {"renew": ["late ok", "fail"], "asks": [[10, 1], [14, 1]]},
    {"renew": ["ok", "lost"], "asks": [[8, 1], [8.5, 1]]},
    {"renew": ["broken"]},
    # The key: refused, and not to be had.
    {
        "campaign": ["fail", "taken", "late taken", "ok"],
        "wait": ["fail", "late ok"],
        "asks": [[0, 1], [1, 1]],
        "renew": ["lost"],
    },
    {"campaign": ["broken"]},
    {"campaign": ["taken"], "wait": ["broken"]},
    {"renew": ["ok", "late lost"], "asks": [[14.5, 1]], "jumps": [5000], "save": ["ok", "late ok"]},
    # The start: fails, or lasts longer than the lease.
    {"load": ["fail"], "asks": [[1, 1]]},
    {"load": ["broken"], "asks": [[1, 1]]},
    {"load": ["lost"]},
    {"load": ["late ok"], "asks": [[0.5, 1], [9.5, 1]], "renew": ["fail"]},
    {"save": ["fail"], "resign": ["fail"]},
    {"save": ["broken"]},
    {"save": ["lost"], "resign": ["broken"]},
    {"save": ["late ok"], "renew": ["fail"], "resign": ["late ok"]},
    {"base": -1, "renew": ["lost"]},
    {"base": 0, "renew": ["lost"]},
    {"base": 5, "renew": ["lost"]},
    {"load": ["late ok"], "renew": ["ok", "fail"], "asks": [[15, 1]]},
    {"save": ["late ok"], "renew": ["ok", "fail"], "asks": [[15, 1]]},
    # Updates: each boundary of the window, and saves that fail.
    {"jumps": [1, 1, 2997, 1, 2999], "renew": ["ok", "ok", "ok", "ok", "ok", "ok", "ok", "lost"]},
    {"jumps": [5000, 0, 5000], "save": ["ok", "fail", "ok", "lost"], "asks": [[6, 1], [22, 1]]},
    {"jumps": [5000], "save": ["ok", "broken"], "asks": [[7, 1]]},
    {"jumps": [5000], "save": ["ok", "late ok"], "renew": ["fail"], "asks": [[9, 1]]},
    {"renew": ["fail", "late fail"], "jumps": [0, 5000], "asks": [[8, 1]]},
    {"jumps": [2998], "asks": [[8, 131073]], "renew": ["ok", "ok", "ok", "lost"]},
    {"jumps": [0, 0], "asks": [[6.5, 131072], [7, 1]], "slow": "update.decide", "renew": ["ok", "lost"]},
    # Counts: none, all, and too many.
    {
        "asks": [[1, 0], [2, -1], [3, 1], [4.5, 131071], [8, 1], [15, 131072], [16, 131072], [22, 5]],
        "renew": ["ok", "ok", "ok", "ok", "ok", "lost"],
    },
    {"asks": [[1, 262144], [7.5, 1]], "renew": ["ok", "lost"]},
    # An order to stop, while a save is under way.
    {"stop": 7.5, "jumps": [5000], "save": ["ok", "late ok"], "asks": [[8, 1]]},
    {"campaign": ["late ok"], "stop": 1, "asks": [[2, 1]]},
    {"stop": 7.5, "slow": "update.decide"},
)
"""Each is explored by itself."""
