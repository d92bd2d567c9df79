"""What each engine says about an instance, in one form, and how that differs from the interpreter's word."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.checks.explore.test_liveness import naive_verdict
from tests.checks.spark.opponents import distributed
from tidemark.checks.crosscheck.spin import run_spin
from tidemark.checks.explore.liveness import LivenessChecker
from tidemark.checks.spark.search.runners import Runner
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import BelowZeroError, Interpreter
from tidemark.models.interpreted.search import Search as PlainSearch
from tidemark.models.native.errors import NativeError
from tidemark.models.native.graph import build_graph
from tidemark.models.native.kernel import Kernel, compile_kernel
from tidemark.models.native.search import rounds
from tidemark.models.native.search.breadth_first import Search
from tidemark.models.native.search.path import path_to
from tidemark.models.symbolic.runs import Goal, Runs, search

DEPTH = 3
"""Steps of the runs that Z3 looks for."""

Answer = Mapping[str, Any]
"""Counts by name. By the id of a claim: the steps of the shortest run that decides it, None if there is none;
of a ``leads_to``: whether it holds. ``falls``: the steps before the one that makes a natural number negative.
"""
FALLS = "falls"


def interpreted(instance: Instance) -> Answer:
    interpreter = Interpreter(instance)
    found = PlainSearch(interpreter).run()
    said: dict[str, Any] = {FALLS: None} | dict.fromkeys(_decided(instance))
    for claim, where in found.found.items():
        said[claim] = len(found.run_to(where.before)[1]) + (where.step is not None)
    said |= {prop.id: naive_verdict(interpreter, prop.id) for prop in instance.spec.of_kind("leads_to")}
    return said | {
        "distinct": len(found.parents),
        "generated": found.generated,
        "outside": found.out_of_bounds,
        "depth": found.depth,
        "fired": found.fired,
    }


def _decided(instance: Instance) -> list[str]:
    return [prop.id for prop in instance.spec.properties if prop.kind != "leads_to"]


def native(instance: Instance, kernel: Kernel, *, workers: int) -> Answer:
    """Small rounds are shared out too, so that several workers have something to do."""
    with patch.multiple(rounds, SHARED_ROWS=1, LEAST_ROWS=2):
        found = Search(kernel, workers=workers).run()
    said: dict[str, Any] = {}
    for claim in _decided(instance):
        hit = found.hit(instance.spec.property(claim))
        said[claim] = None if hit is None else len(path_to(found, hit).steps)
    if live := instance.spec.of_kind("leads_to"):
        checker = LivenessChecker(build_graph(found))
        said |= {prop.id: checker.check(prop).lasso is None for prop in live}
    return said | {
        "distinct": found.distinct,
        "generated": found.generated,
        "outside": found.out_of_bounds,
        "depth": found.depth,
        "fired": found.generated_by_action(),
    }


def in_rounds(instance: Instance, folder: Path, spark: Runner | None) -> Answer:
    """The search on Spark, or its rounds in this process."""
    found = distributed(folder, instance, spark=spark)
    broken = {claim: depth for claim, (depth, _) in found.violations.items()}
    said: dict[str, Any] = {prop.id: broken.get(prop.id) for prop in instance.spec.of_kind("invariant")}
    steps = instance.spec.of_kind("transition_invariant", "reachable")
    said |= {prop.id: prop.id in found.events for prop in steps}
    return said | {
        "distinct": found.distinct,
        "generated": found.levels[0] + found.generated,
        "outside": sum(found.steps.out_of_bounds),
        "depth": len(found.levels),
    }


def bounded(instance: Instance) -> Answer:
    """Runs that Z3 finds up to a depth."""
    goals: dict[str, Goal] = {FALLS: Runs.falls}
    for prop in instance.spec.of_kind("invariant", "transition_invariant"):
        goals[prop.id] = lambda runs, prop=prop: runs.violates(prop)  # type: ignore[misc]
    found = search(instance, goals, depth=DEPTH, seconds=60.0)
    assert not found.stopped, found.stopped
    return {goal: len(found.found[goal].steps) if goal in found.found else None for goal in goals}


def spin(instance: Instance, folder: Path) -> Answer:
    found = run_spin(instance, folder=folder, states=10_000, timeout_s=60)
    assert not found.stopped, found.stopped
    said: dict[str, Any] = {claim: claim in found.decided for claim in _decided(instance)}
    return said | {"distinct": found.distinct, "generated": found.generated}


Engine = Callable[[Instance, Path], Answer]
"""Gets an empty folder. Compiled kernels lie beside it."""


@lru_cache(maxsize=1)
def _kernel(instance: Instance, folder: Path) -> Kernel:
    return compile_kernel(instance, folder=folder)


def _workers(number: int) -> Engine:
    return lambda instance, folder: native(instance, _kernel(instance, folder.parent), workers=number)


def engines(spark: Runner | None = None) -> dict[str, Engine]:
    return {
        "native": _workers(1),
        "three": _workers(3),
        "z3": lambda instance, folder: bounded(instance),
        "rounds": lambda instance, folder: in_rounds(instance, folder, None),
        "spark": lambda instance, folder: in_rounds(instance, folder, spark),
        "spin": spin,
    }


def answer(ask: Callable[[], Answer]) -> Answer:
    """Also of a protocol that makes a number negative, and of an engine that stumbles."""
    try:
        return ask()
    except BelowZeroError as error:
        return {FALLS: len(error.steps)}
    except NativeError:
        return {}  # refused by name: an instance that is too wide
    except Exception as error:  # noqa: BLE001 - any error is a difference from the interpreter
        return {"raises": f"{type(error).__name__}: {error}"}


def differences(name: str, ours: Answer, theirs: Answer) -> list[str]:
    """What an engine says otherwise than the interpreter, in words."""
    found = [f"it raises {theirs['raises']}"] if "raises" in theirs else []
    for key, said in theirs.items():
        if key not in ours or (ours.get(FALLS) is not None and key != FALLS):
            continue
        expected = ours[key]
        if name == "z3":
            expected = expected if expected is not None and expected <= DEPTH else None
        elif isinstance(said, bool) and not isinstance(expected, bool):
            expected = expected is not None
        if said != expected:
            found.append(f"{key}: {said}, not {expected}")
    falls = ours.get(FALLS) is not None and FALLS not in theirs and theirs and name != "spin"
    return [*found, "it does not fall"] if falls else found
