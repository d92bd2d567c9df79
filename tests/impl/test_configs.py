"""Every configuration takes the last value that it allows, and refuses the first one beyond."""

import time
from functools import partial

import pytest

from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.config import DataNodeConfig
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.stream.config import DispatcherConfig, Pursuit
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.timestamp import MAX_LOGICAL
from tidemark.impl.tso.config import OracleConfig

pursuit = partial(Pursuit, now=time.monotonic_ns)
LEASE = partial(OracleConfig, lease=15.0)
NUMBERS = (
    (DataNodeConfig, 1, "full_buffer_bytes stale_after_ts memory_watermark_bytes max_positions_per_rpc"),
    (DataNodeConfig, 1, "max_parallel_rpcs"),
    (DataNodeConfig, 0, "checkpoint_interval_ts save_tries"),
    (ProxyConfig, 1, "max_tasks parallel_tasks id_batch"),
    (ProxyConfig, 0, "tick_interval_ts"),
    (QueryNodeConfig, 0, "max_lag_ms"),
    (QueryNodeConfig, 1, "replay_batch load_attempts"),
    (RootCoordConfig, 1, "round_capacity"),
    (DispatcherConfig, 1, "capacity"),
    (pursuit, 1, "messages"),
    (StreamingConfig, 0, "idle_rounds"),
    (OracleConfig, 1, "guard step max_logical tries"),
    (partial(OracleConfig, guard=1), 2, "window"),
    (ClusterConfig, 1, "channels proxies query_nodes segment_rows full_buffer_bytes packs"),
    (ClusterConfig, 0, "graceful_ts checkpoint_ts"),
)
"""Configuration, least value, numbers."""
SECONDS = (
    (DataNodeConfig, "memory_check_seconds checkpoint_tick_seconds checkpoint_rpc_timeout save_rpc_timeout"),
    (DataNodeConfig, "retry_initial_seconds retry_max_seconds"),
    (ProxyConfig, "tick_seconds report_seconds produce_timeout report_timeout id_timeout"),
    (QueryNodeConfig, "stall_seconds"),
    (RootCoordConfig, "ddl_tick_seconds dummy_seconds"),
    (DispatcherConfig, "tolerant_seconds"),
    (pursuit, "seconds"),
    (OracleConfig, "update_pause unready_pause overflow_pause renew_pause campaign_pause"),
    (ClusterConfig, "tick_seconds lease_seconds lag_seconds compaction_seconds"),
)
BOUNDARIES = (
    *((make, {name: least}, {name: least - 1}) for make, least, names in NUMBERS for name in names.split()),
    *((make, {name: 0.25}, {name: 0.0}) for make, names in SECONDS for name in names.split()),
    (QueryNodeConfig, {"stall_seconds": None}, {"stall_seconds": -1.0}),
    (OracleConfig, {"max_logical": MAX_LOGICAL}, {"max_logical": MAX_LOGICAL + 1}),
    (OracleConfig, {"guard": 5, "window": 6, "step": 1}, {"guard": 6, "window": 6, "step": 9}),
    (LEASE, {"lease_margin": 0.0, "renew_pause": 14.5}, {"lease_margin": -0.5}),
    (LEASE, {"lease_margin": 14.5, "renew_pause": 0.25}, {"lease_margin": 15.0, "renew_pause": -1.0}),
    (LEASE, {"renew_pause": 11.5, "campaign_pause": 40.0}, {"lease_margin": 15.0}),
    (LEASE, {"lease_margin": 3.0, "renew_pause": 11.5}, {"lease_margin": 3.0, "renew_pause": 12.0}),
    (LEASE, {"lease_margin": 9.0, "renew_pause": 5.5}, {"lease_margin": 9.0, "renew_pause": 6.0}),
    (pursuit, {}, {"seconds": 0.0, "messages": 0}),
)
"""Configuration, values that it takes, values that it refuses."""


@pytest.mark.parametrize(("make", "taken", "refused"), BOUNDARIES, ids=str)
def test_a_configuration_ends_where_it_says(make, taken, refused):
    made = make(**taken)
    assert {name: getattr(made, name) for name in taken} == taken
    with pytest.raises(ValueError, match=r"must be|room for|make the window longer|renew sooner|give 0") as e:
        make(**refused)
    assert make is pursuit or any(name in str(e.value) for name in refused)


def test_a_cluster_gives_its_nodes_their_dispatchers_and_numbers_its_channels():
    config = ClusterConfig(channels=3, packs=5, lag_seconds=7.0)
    assert config.dispatchers == DispatcherConfig(capacity=5, tolerant_seconds=7.0)
    assert config.channel_names == ("dml_0", "dml_1", "dml_2")
