"""What happens in the life of a data node: see ``life``."""

from __future__ import annotations

from tidemark.models.protocols.common.scripted import Script

_TIMER = {"checkpoint_tick_seconds": 4.0, "checkpoint_interval_ts": 0}

SCRIPTS: tuple[Script, ...] = (
    # Full, stale, and neither; the boundary of each.
    {
        "packs": {
            "c": [
                [1, 10, [[1, 1], [2, 1], [3, 2]], ""],
                [2, 20, [[11, 1], [12, 2]], ""],
                [3, 40, [], ""],
                [4, 41, [[41, 3]], ""],
                [5, 80, [[50, 3]], ""],
            ]
        }
    },
    # Each channel has an interval of its own.
    {
        "config": {"checkpoint_tick_seconds": 4.0},
        "packs": {"c": [[1, 10, [], ""], [5, 60, [], ""]], "d": [[2, 20, [], ""], [6, 120, [], ""]]},
    },
    # Syncs of a segment, one after another: the store fails, the coordinator refuses, is silent, or late.
    {
        "packs": {
            "c": [
                [1, 10, [[1, 1], [2, 1], [3, 1]], ""],
                [2, 20, [[11, 1], [12, 1], [13, 1]], ""],
                [3, 30, [[21, 2]], ""],
            ]
        },
        "put": ["fail", "ok"],
        "save": ["fail", "refused", "fail", "late already", "ok"],
    },
    {
        "packs": {"c": [[1, 10, [[1, 1], [2, 1], [3, 1], [4, 2], [5, 2], [6, 2]], ""]]},
        "put": ["late ok"],
        "save": ["late ok", "ok"],
    },
    {"packs": {"c": [[1, 10, [[1, 1], [2, 1], [3, 1]], ""]]}, "put": ["broken"]},
    {"packs": {"c": [[1, 10, [[1, 1], [2, 1], [3, 1]], ""]]}, "save": ["broken"]},
    # Recovery: what is stored is left out, what is ended takes no row, and a late row ends the node.
    {
        "seek": 5,
        "recover": ["fail", "ok"],
        "stored": [[1, 8, ""], [2, 9, "flushed"], [3, 9, "dropped"]],
        "packs": {
            "c": [
                [2, 10, [[6, 1], [8, 1], [9, 1], [9, 2], [10, 3]], ""],
                [3, 20, [[12, 3], [13, 1]], ""],
                [6, 30, [], ""],
            ]
        },
        "calls": [[4, "seal", "c", [1, 2, 3, 4], 20], [5, "recover", "c"]],
    },
    {"stored": [[2, 9, "flushed"]], "packs": {"c": [[1, 10, [[1, 1], [10, 2]], ""]]}},
    # Seals and flushes. A seal that is held up between two segments says no if one of them was too early.
    {
        "packs": {"c": [[1, 10, [[1, 1], [2, 2]], ""], [4, 20, [], ""]]},
        "calls": [[2, "seal", "c", [1, 2], 15]],
        "points": ["node.seal"],
        "end": 6,
    },
    {
        "packs": {"c": [[1, 10, [[1, 1], [2, 2]], ""], [4, 20, [[11, 2]], ""], [5, 30, [], ""]]},
        "calls": [
            [2, "seal", "c", [1, 2], 11],
            [3, "seal", "c", [1], 10],
            [3.2, "seal", "c", [1], 10],
            [3.5, "seal", "d", [1], 1],
            [3.6, "flush", "d", 1],
        ],
        "save": ["ok"],
    },
    {
        "packs": {"c": [[1, 10, [[1, 1], [2, 2]], ""], [4, 20, [[11, 2]], ""], [5, 30, [[21, 1]], ""]]},
        "calls": [[2, "seal", "c", [1], 10]],
        "save": ["late ok"],
    },
    {
        "config": _TIMER,
        "packs": {"c": [[1, 10, [[1, 1]], ""], [3, 20, [[20, 2]], ""], [5, 30, [], ""], [6, 31, [], ""]]},
        "calls": [[2, "flush", "c", 20], [2.5, "flush", "c", 15]],
    },
    {
        "packs": {"c": [[1, 10, [[1, 1]], ""], [3, 20, [[11, 2]], ""], [5, 30, [], ""], [6, 40, [], ""]]},
        "calls": [[2, "flush", "c", 20]],
        "update": ["late fail", "late ok"],
    },
    {
        "packs": {"c": [[1, 10, [], ""], [3, 20, [], ""], [5, 30, [], ""]]},
        "calls": [[2, "flush", "c", 20]],
    },
    {
        "packs": {"c": [[1, 10, [], ""], [3, 20, [[11, 1]], ""], [5, 30, [], ""]]},
        "calls": [[2, "flush", "c", 10], [4, "flush", "c", 25]],
    },
    {
        "packs": {"c": [[1, 10, [], ""], [3, 20, [[11, 1]], ""], [5, 30, [], ""]]},
        "calls": [[2, "flush", "c", 25]],
    },
    {
        "packs": {"c": [[1, 10, [[1, 1], [2, 1], [3, 1]], ""], [2, 20, [], ""], [3, 30, [], ""]]},
        "calls": [[0.5, "seal", "c", [1], 0]],
        "save": ["late ok"],
    },
    # Urgent reports: merged with what waits, and kept urgent.
    {
        "packs": {"c": [[1, 10, [], ""], [3, 20, [[11, 1]], ""]]},
        "calls": [[2, "flush", "c", 5]],
    },
    {
        "config": {"checkpoint_tick_seconds": 1.5, "checkpoint_interval_ts": 20},
        "packs": {"c": [[1, 10, [], ""], [3, 15, [], ""], [4, 40, [], ""]]},
        "calls": [[2, "flush", "c", 12]],
        "update": ["late ok", "ok"],
        "end": 5.5,
    },
    {
        "config": {"max_positions_per_rpc": 2},
        "packs": {"c": [[1, 10, [], ""], [3, 20, [], ""]], "d": [[1.2, 10, [], ""], [5, 20, [], ""]]},
        "calls": [[2, "flush", "c", 20], [4, "flush", "d", 20]],
        "update": ["fail", "ok"],
    },
    {
        "config": {"checkpoint_interval_ts": 20, "max_positions_per_rpc": 2},
        "packs": {"c": [[1, 10, [], ""], [2, 30, [], ""]], "d": [[1.2, 10, [], ""], [5, 20, [], ""]]},
        "calls": [[4, "flush", "d", 20]],
    },
    # Reports: the interval, batches of several channels, answers that fail, and the close.
    {
        "config": {"checkpoint_interval_ts": 10, "checkpoint_tick_seconds": 2.5},
        "packs": {"c": [[1, 10, [], ""], [2, 19, [], ""], [3, 20, [], ""], [6, 25, [], "close"]]},
        "update": ["fail", "ok"],
    },
    {"packs": {"c": [[1, 10, [[1, 1], [2, 1], [3, 1]], "close"]]}},
    {
        "config": {**_TIMER, "max_positions_per_rpc": 2, "max_parallel_rpcs": 2},
        "packs": {name: [[1 + n / 8, 10, [], ""], [5 + n / 8, 20, [], ""]] for n, name in enumerate("cdefg")},
        "update": ["ok", "fail", "late ok", "ok"],
        "end": 9,
    },
    {
        "config": {**_TIMER, "max_positions_per_rpc": 2},
        "packs": {name: [[1 + n / 8, 10, [], ""], [4.5 + n / 8, 20, [], ""]] for n, name in enumerate("cde")},
        "update": ["late ok", "fail", "ok"],
    },
    {"config": _TIMER, "packs": {"c": [[1, 10, [], ""]]}, "update": ["broken"]},
    # Memory: one channel holds more than the other, and one segment is older.
    {
        "config": {"full_buffer_bytes": 1000, "memory_watermark_bytes": 5 * 24, "memory_check_seconds": 2.0},
        "packs": {
            "c": [[1, 10, [[1, 2]], ""], [1.5, 20, [[11, 1], [12, 1]], ""], [3, 30, [[21, 1]], ""]],
            "d": [[1, 10, [[1, 3], [2, 3]], ""]],
        },
    },
    {
        "config": {"full_buffer_bytes": 1000, "memory_watermark_bytes": 3 * 24, "memory_check_seconds": 2.0},
        "packs": {"d": [[1, 10, [[1, 4], [2, 3]], ""]], "c": [[1, 10, [[1, 2], [2, 1]], ""]]},
    },
    # The last one by name holds most.
    {
        "config": {"full_buffer_bytes": 1000, "memory_watermark_bytes": 3 * 24, "memory_check_seconds": 2.0},
        "packs": {"c": [[1, 10, [[1, 2]], ""]], "d": [[1, 10, [[1, 4], [2, 3], [3, 3]], ""]]},
    },
    # The drop: it waits for the syncs under way, and is reported until that is heard.
    {
        "config": _TIMER,
        "packs": {"c": [[1, 10, [[1, 1], [2, 1], [3, 1], [4, 2]], ""], [2, 20, [[11, 1], [12, 3]], "drop"]]},
        "put": ["late ok", "ok"],
        "drop": ["fail", "fail", "ok"],
    },
    {
        "config": {"checkpoint_tick_seconds": 1.5, "checkpoint_interval_ts": 0},
        "packs": {"c": [[1, 10, [], ""], [2, 20, [], "drop"]]},
        "update": ["late ok"],
        "end": 4,
    },
    {"recover": ["broken"], "packs": {"c": []}},
    {"packs": {"c": [[1, 10, [], "drop"]]}, "drop": ["broken"]},
    {"packs": {"c": [[1, 10, [], "drop"]]}, "calls": [[2, "flush", "c", 5]]},
    {
        "packs": {"c": [[1, 10, [[1, 1], [2, 1], [3, 1]], ""]]},
        "save": ["fail"],
        "end": 2.5,
    },
)
"""Each is explored by itself."""
