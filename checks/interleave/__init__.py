"""Searching the interleavings of a scheduled program: exhaustive, random, replayed, spread over Spark.

The reduction is by sleep sets over recorded footprints, alone, with source sets, or with wakeup trees. The
exhaustive search runs exactly one complete execution of each Mazurkiewicz trace; executions that are given up
because everything enabled is asleep are counted as blocked: many with sleep sets, few with source sets, none
with wakeup trees unless events exclude one another.
`models.scheduled.execution` states why checks of single steps survive the reduction.
"""

from checks.interleave.bounded import BoundedSearch, DelayBounded, PreemptionBounded
from checks.interleave.coroutines import explore_coroutine, replay_coroutine, require_every_order
from checks.interleave.depth_first import DepthFirst
from checks.interleave.errors import (
    CorruptTokenError,
    DivergenceError,
    IncompleteSearchError,
    NondeterminismError,
    OrderError,
    UnsoundReductionError,
    WrongProgramError,
)
from checks.interleave.explore import explore, explore_by, explore_randomly, explore_subtree, replay, split
from checks.interleave.limits import Limits
from checks.interleave.optimal import Optimal
from checks.interleave.options import Options, Reduction
from checks.interleave.priorities import Priorities
from checks.interleave.random_walk import RandomWalk
from checks.interleave.result import Exploration, Found, Statistics, Status
from checks.interleave.source_sets import SourceSets
from checks.interleave.strategy import Strategy
from checks.interleave.token import decode, encode
from checks.interleave.work import WorkItem

__all__ = [
    "BoundedSearch",
    "CorruptTokenError",
    "DelayBounded",
    "DepthFirst",
    "DivergenceError",
    "Exploration",
    "Found",
    "IncompleteSearchError",
    "Limits",
    "NondeterminismError",
    "Optimal",
    "Options",
    "OrderError",
    "PreemptionBounded",
    "Priorities",
    "RandomWalk",
    "Reduction",
    "SourceSets",
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
    "replay",
    "replay_coroutine",
    "require_every_order",
    "split",
]
