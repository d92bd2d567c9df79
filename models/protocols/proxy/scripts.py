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
    # A worker is one worker again after each task.
    {
        "room": 2,
        "workers": 1,
        "append": ["ok", "late ok", "ok"],
        "writes": [[3.2, ["x"]], [3.4, ["x"]], [3.5, ["y"]], [3.6, ["x"]]],
        "stop": 3.7,
    },
    # A write that looks once more whether it is to be carried out.
    {"check": ["ok", "fail"], "writes": [[3.2, ["x"], "checked"], [3.4, ["x", "y"], "checked"]], "stop": 3.6},
    # Calls of other components: one after another, and side by side.
    {
        "call": ["late ok", "fail", "unknown collection", "timeout", "ok"],
        "calls": [[3.2, "ddl"], [3.3, "ddl"], [3.4, "ddl"], [3.5, "ddl"], [3.6, "ddl"]],
        "stop": 3.7,
    },
    {
        "workers": 2,
        "call": ["late ok", "late fail", "ok"],
        "alloc": ["ok", "ok", "fail", "ok"],
        "calls": [[3.2, "query"], [3.3, "query"], [3.4, "query"], [3.5, "query"]],
        "stop": 3.6,
    },
    {"call": ["broken"], "calls": [[3.2, "ddl"]], "stop": 3.6},
    # The end, with a close and without one.
    {"append": ["late ok"], "stop": 5, "writes": [[4, ["x"]]]},
    {
        "close": 3.4,
        "writes": [[3.2, ["x"]], [3.6, ["x"]]],
        "calls": [[3.3, "ddl"], [3.7, "query"]],
        "stop": 4.5,
    },
    {"close": 1, "writes": [[0, ["x"]]], "stop": 2.5},
    {
        "workers": 1,
        "close": 3.6,
        "append": ["late timeout"],
        "settle": ["late appended"],
        "writes": [[3.2, ["x"]], [3.4, ["x", "y"], "checked"]],
        "stop": 3.8,
    },
    {"close": 3.6, "alloc": ["late ok", "ok"], "writes": [[3.2, ["x"]], [3.4, ["x"]]], "stop": 3.8},
    {"close": 3.6, "call": ["late ok"], "calls": [[3.2, "ddl"], [3.4, "ddl"]], "stop": 3.8},
)
"""Each is explored by itself."""
