"""What happens in the life of a root coordinator: see ``life``."""

from __future__ import annotations

from tidemark.models.protocols.common.scripted import Script

SCRIPTS: tuple[Script, ...] = (
    # Rounds: two proxies and the DDL source; ticks that go on, and those that do not.
    {
        "live": [1, 2],
        "ticked": {"x": 50, "y": 7},
        "reports": [[1, 1, 60, 5], [1.5, 2, 70, 90], [4, 1, 61, 6], [4.5, 2, 60, 6], [4.7, 3, 1, 1]],
    },
    {
        "live": [1],
        "tick x": ["fail", "ok"],
        "tick y": ["ok"],
        "reports": [[1, 1, 60, 60], [4, 1, 55, 61], [7, 1, 60, 62]],
    },
    {
        "live": [1],
        "tick x": ["late ok", "ok"],
        "room": 1,
        "reports": [[1, 1, 60, 61], [4, 1, 62, 63], [7, 1, 64, 65]],
    },
    {"tick x": ["late fail", "ok"], "room": 2},
    # A proxy reports twice before a round is complete: the later report counts.
    {"live": [1], "reports": [[1, 1, 60, 61], [2, 1, 70, 71]], "stop": 3.8},
    # A proxy names one channel only: the other one has its default.
    {"live": [1, 2], "reports": [[1, 1, 90, 91], [2, 2, 0, 95, 60]], "stop": 3.8},
    {"tick y": ["broken"]},
    # Sessions: one comes, goes, and is fenced while others report.
    {
        "events": [[1, 1, True], [5, 1, False]],
        "reports": [[0.5, 1, 60, 60], [2.5, 1, 60, 60], [5.5, 1, 70, 70]],
    },
    {
        "live": [1],
        "events": [[1, 1, False], [5, 2, True]],
        "fence": ["late ok"],
        "reports": [[2, 1, 60, 60], [7, 2, 80, 80]],
    },
    {"live": [1], "events": [[4, 1, False]], "fence": ["broken"]},
    {"live": [1, 2], "events": [[5, 1, False]], "reports": [[3.5, 2, 60, 60]]},
    # The store of sessions forgets: they are listed again while others report; what has been reported counts.
    {"live": [1, 2], "events": [[3.6, [2]], [3.8, 4, True]], "reports": [[3.4, 2, 60, 60]], "stop": 3.9},
    {
        "live": [1, 2],
        "events": [[3.5, [3, 2]]],
        "take over": ["ok", "late ok"],
        "reports": [[3.4, 2, 60, 60], [3.6, 1, 61, 61], [3.7, 3, 62, 62]],
        "stop": 3.8,
    },
    {"events": [[1, "broken"]], "stop": 3.8},
    # The DDL source: an oracle that does not answer, and work that is late, fails, or breaks.
    {"dummy": ["fail", "ok"], "minimum": ["ok", "fail", "ok"]},
    {"minimum": ["fail", "ok"], "take over": ["late ok"]},
    {"work": [[3.5, "job"], [5, "job"]], "append": ["ok", "late ok"]},
    {"minimum": ["broken"]},
    {"dummy": ["broken"]},
    {"work": [[2.5, "ddl"], [2.5, "ddl"]], "append": ["late ok", "ok"]},
    {"work": [[2.5, "job"], [2.6, "job"]], "append": ["late ok", "fail"]},
    {"work": [[2.5, "ddl"], [2.6, "job"]], "append": ["fail", "late fail"]},
    {"work": [[2.5, "ddl"], [2.6, "job"], [5, "job"]], "ddl": ["fail"], "job": ["fail", "late ok"]},
    {"work": [[2.5, "job"], [3.5, "ddl"]], "append": ["broken"]},
    # The minimum does not move, and is reported again: proxies go on meanwhile.
    {
        "live": [1],
        "dummy": ["ok", "fail"],
        "reports": [[1, 1, 60, 60], [4, 1, 70, 70]],
        "stop": 6.8,
    },
    {"stop": 3.5, "live": [1], "tick x": ["late ok"], "reports": [[1, 1, 60, 60], [4, 1, 60, 60]]},
)
"""Each is explored by itself."""
