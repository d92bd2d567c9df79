"""What happens in the life of a proxy and its edges: see ``life``."""

from __future__ import annotations

from tidemark.models.protocols.common.scripted import Script

SCRIPTS: tuple[Script, ...] = (
    # It serves once a report was accepted; ticks and reports fail before.
    {"tick": ["fail", "ok", "fail", "ok"], "report": ["fail", "ok"], "writes": [[0, ["x"]], [7, ["x", "y"]]]},
    {"tick": ["broken"]},
    {"report": ["broken"]},
    # Room and workers.
    {
        "room": 1,
        "workers": 1,
        "append": ["late ok", "ok"],
        "writes": [[4, ["x"]], [4.5, ["y"]], [4.5, ["x"]]],
        "stop": 5.5,
    },
    {"room": 2, "workers": 1, "alloc": ["late ok", "ok"], "writes": [[4, ["x"]], [4, ["y"]]]},
    {
        "workers": 2,
        "append": ["late ok", "ok"],
        "writes": [[4, ["x", "y"]], [4, ["y"]], [4, ["x"]]],
        "stop": 5.5,
    },
    {
        "room": 1,
        "workers": 1,
        "alloc": ["late ok", "ok"],
        "append": ["late ok", "ok"],
        "writes": [[4, ["x"]], [4.5, ["y"]], [5, ["x"]]],
    },
    # What becomes of a write.
    {"alloc": ["fail", "broken", "ok"], "writes": [[4, ["x"]], [4, ["y"]], [4, ["x"], "plain"]]},
    {
        "append": ["fail", "timeout", "ok", "timeout"],
        "settle": ["late appended", "refused"],
        "writes": [[4, ["x", "y"]], [4.5, ["x", "y"]]],
    },
    {"append": ["ok", "broken"], "workers": 1, "writes": [[4, ["x", "y"]], [5, ["x"]]]},
    # What is reported of channels whose tasks last.
    {
        "append": ["late ok", "late ok", "ok"],
        "writes": [[3.5, ["x"]], [4.5, ["x"]], [5, ["x", "y"]]],
        "stop": 9.5,
    },
    {
        "interval": 0,
        "alloc": ["ok", "late ok", "ok"],
        "append": ["ok", "late ok", "ok"],
        "writes": [[3.5, ["x"]], [5.5, ["x"]]],
        "stop": 9.5,
    },
    # A batch: the value moves when it begins, and not again while its last task is under way.
    {
        "interval": 2,
        "append": ["late ok", "late ok", "never"],
        "writes": [[3.5, ["x"]], [4.5, ["x"]], [5, ["x"]]],
        "stop": 9.5,
    },
    {
        "interval": 0,
        "scan": True,
        "alloc": ["ok", "ok", "late ok"],
        "append": ["late ok", "late ok", "never"],
        "writes": [[3.5, ["x"]], [4.5, ["x"]], [5.5, ["x"]]],
        "stop": 9.5,
    },
    # The end.
    {"append": ["late ok"], "stop": 5, "writes": [[4, ["x"]]]},
)
"""Each is explored by itself."""
