"""Every configuration at the ends of what it allows: the last value that it takes, and the first that it
refuses. It is said here anew, so that a bound cannot move unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.config import DataNodeConfig
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.stream.config import DispatcherConfig, Pursuit
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.timestamp import MAX_LOGICAL
from tidemark.impl.tso.config import OracleConfig
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

TAKEN = "what_a_configuration_allows_is_taken"
"""Claim id: a configuration takes its defaults, and each of its values at the end of what it allows."""
REFUSED = "what_a_configuration_does_not_allow_is_refused"
"""Claim id: the first value beyond that is refused with a ValueError."""

Made = Callable[..., object]


def _pursuit(**values: Any) -> Pursuit:
    return Pursuit(now=lambda: 0, **values)


CONFIGURATIONS: Mapping[str, Made] = {
    "data node": DataNodeConfig,
    "proxy": ProxyConfig,
    "query node": QueryNodeConfig,
    "root coordinator": RootCoordConfig,
    "dispatchers": DispatcherConfig,
    "pursuit": _pursuit,
    "streaming": StreamingConfig,
    "oracle": OracleConfig,
    "cluster": ClusterConfig,
}
LEAST: Mapping[str, Mapping[str, int]] = {
    "data node": {
        "full_buffer_bytes": 1,
        "stale_after_ts": 1,
        "memory_watermark_bytes": 1,
        "checkpoint_interval_ts": 0,
        "max_positions_per_rpc": 1,
        "max_parallel_rpcs": 1,
    },
    "proxy": {"max_tasks": 1, "parallel_tasks": 1, "id_batch": 1, "tick_interval_ts": 0},
    "query node": {"max_lag_ts": 0, "replay_batch": 1, "load_attempts": 1},
    "root coordinator": {"round_capacity": 1},
    "dispatchers": {"capacity": 1},
    "pursuit": {"messages": 1},
    "streaming": {"idle_rounds": 0},
    "oracle": {"guard": 1, "window": 2, "step": 1, "max_logical": 1, "tries": 1},
    "cluster": {
        **dict.fromkeys(
            ("channels", "proxies", "query_nodes", "segment_rows", "full_buffer_bytes", "packs"), 1
        ),
        "graceful_ts": 0,
        "checkpoint_ts": 0,
    },
}
"""The least value of each number. The window of an oracle is longer than its guard."""
POSITIVE: Mapping[str, tuple[str, ...]] = {
    "data node": (
        "memory_check_seconds",
        "checkpoint_tick_seconds",
        "checkpoint_rpc_timeout",
        "save_rpc_timeout",
        "retry_initial_seconds",
        "retry_max_seconds",
    ),
    "proxy": ("tick_seconds", "report_seconds", "produce_timeout", "report_timeout", "id_timeout"),
    "query node": ("stall_seconds",),
    "root coordinator": ("ddl_tick_seconds", "dummy_seconds"),
    "dispatchers": ("tolerant_seconds",),
    "pursuit": ("seconds",),
    "oracle": ("update_pause", "unready_pause", "overflow_pause", "renew_pause", "campaign_pause"),
    "cluster": ("tick_seconds", "lease_seconds", "lag_seconds", "compaction_seconds"),
}
"""The times that must be longer than nothing, in seconds."""
ALLOWED: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("query node", {"stall_seconds": None}),
    ("oracle", {"max_logical": MAX_LOGICAL}),
    ("oracle", {"guard": 5, "window": 6, "step": 1}),
    ("oracle", {"lease": 15.0, "lease_margin": 0.0, "renew_pause": 14.5}),
    ("oracle", {"lease": 15.0, "lease_margin": 14.5, "renew_pause": 0.25}),
    ("oracle", {"lease": 15.0, "lease_margin": 3.0, "renew_pause": 11.5, "campaign_pause": 40.0}),
)
FORBIDDEN: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("oracle", {"max_logical": MAX_LOGICAL + 1}),
    ("oracle", {"guard": 6, "window": 6, "step": 9}),
    ("oracle", {"guard": 7, "window": 6}),
    ("oracle", {"lease_margin": -0.5}),
    ("oracle", {"lease": 15.0, "lease_margin": 15.0, "renew_pause": -1.0}),
    ("oracle", {"lease": 15.0, "lease_margin": 15.0}),
    ("oracle", {"lease": 15.0, "lease_margin": 15.5}),
    ("oracle", {"lease": 15.0, "lease_margin": 3.0, "renew_pause": 12.0}),
    ("oracle", {"lease": 15.0, "lease_margin": 9.0, "renew_pause": 6.0}),
    ("pursuit", {"seconds": 0.0, "messages": 0}),
)


class ConfigsProgram(ComparedProgram):
    """Makes the configurations of one part, one after the other."""

    async def live(self, process: Process) -> None:
        """Make all of one part."""
        del process
        self._seen: list[bool] = []
        part = self.script["part"]
        self.begun = True
        self._make(part, {}, allowed=True)
        for name, least in LEAST[part].items():
            smaller = {"guard": 1} if name == "window" else {}
            self._make(part, {**smaller, name: least}, allowed=True)
            self._make(part, {**smaller, name: least - 1}, allowed=False)
        for name in POSITIVE.get(part, ()):
            self._make(part, {name: 0.25}, allowed=True)
            self._make(part, {name: 0.0}, allowed=False)
        for allowed, several in ((True, ALLOWED), (False, FORBIDDEN)):
            for other, values in several:
                if other == part:
                    self._make(part, values, allowed=allowed)

    def _make(self, part: str, values: Mapping[str, Any], *, allowed: bool) -> None:
        try:
            CONFIGURATIONS[part](**values)
        except ValueError:
            taken = False
        else:
            taken = True
        self._seen.append(taken)
        self.compare(TAKEN if allowed else REFUSED, f"{part} with {dict(values)}", taken, allowed)

    def look(self) -> Hashable:
        """What was taken."""
        return tuple(self._seen)


def configs() -> ConfigsProgram:
    """Return the program of all configurations."""
    scripts: tuple[Script, ...] = tuple({"part": part} for part in CONFIGURATIONS)
    return ConfigsProgram(scripts, timers=0)
