"""Searching the interleavings of a scheduled program: exhaustive, random, replayed, spread over Spark.

The reduction is by sleep sets over recorded footprints, alone or with wakeup trees. The
exhaustive search runs exactly one complete execution of each Mazurkiewicz trace; executions that are given up
because everything enabled is asleep are counted as blocked: many with sleep sets, none
with wakeup trees unless events exclude one another.
``tidemark.models.simulation.execution`` states why checks of single steps survive the reduction.
"""

from tidemark.checks.interleave.coroutines import explore_coroutine, replay_coroutine, require_every_order
from tidemark.checks.interleave.errors import (
    CannotBeExploredError,
    CorruptTokenError,
    DivergenceError,
    IncompleteSearchError,
    NondeterminismError,
    OrderError,
    UnsoundReductionError,
    WrongProgramError,
)
from tidemark.checks.interleave.executions.token import decode, encode
from tidemark.checks.interleave.limits import ExecutionLimits, Options, Reduction
from tidemark.checks.interleave.result import Exploration, Found, Statistics, Status
from tidemark.checks.interleave.searches import (
    explore,
    explore_by,
    explore_randomly,
    explore_subtree,
    explore_with_delays,
    replay,
    split,
)
from tidemark.checks.interleave.strategies.bounded import BoundedSearch, DelayBounded, PreemptionBounded
from tidemark.checks.interleave.strategies.depth_first import DepthFirst
from tidemark.checks.interleave.strategies.optimal import Optimal
from tidemark.checks.interleave.strategies.random_walk import Priorities, RandomWalk
from tidemark.checks.interleave.strategies.strategy import Strategy
from tidemark.checks.interleave.trees.work import WorkItem

__all__ = [
    "BoundedSearch",
    "CannotBeExploredError",
    "CorruptTokenError",
    "DelayBounded",
    "DepthFirst",
    "DivergenceError",
    "ExecutionLimits",
    "Exploration",
    "Found",
    "IncompleteSearchError",
    "NondeterminismError",
    "Optimal",
    "Options",
    "OrderError",
    "PreemptionBounded",
    "Priorities",
    "RandomWalk",
    "Reduction",
    "Statistics",
    "Status",
    "Strategy",
    "UnsoundReductionError",
    "WorkItem",
    "WrongProgramError",
    "decode",
    "encode",
    "explore",
    "explore_by",
    "explore_coroutine",
    "explore_randomly",
    "explore_subtree",
    "explore_with_delays",
    "replay",
    "replay_coroutine",
    "require_every_order",
    "split",
]
