"""Spin and the interpreter agree on generated protocols, which use every type and write beyond the bounds."""

import random
import shutil
from dataclasses import replace

import pytest

from tests.models.native.expression_trees import Generator
from tidemark.checks.crosscheck.outcome import Comparison, plain
from tidemark.checks.crosscheck.spin import run_spin
from tidemark.models.instance import Instance

BOUNDS = {"Node": 2, "Place": 1, "Level": (-1, 1), "Wide": (-2, 3)}
CONSTANTS = {"owner": [1, 0], "weight": [[1, -1], [0, 1], [2, -1]]}
SEEDS = (365, 638, 42)
"""Seeds whose protocols do not stop at once: most generated guards are seldom true."""


def generated(seed: int) -> Instance:
    """The bench for expressions with three generated actions."""
    instance = Instance("tests.protocols.lab:Lab", BOUNDS, CONSTANTS, f"lab-{seed}")  # type: ignore[arg-type]
    draw = Generator(instance, random.Random(seed))
    actions = tuple(draw.action(f"action_{number}", depth=4) for number in range(3))
    instance.__dict__["spec"] = replace(instance.spec, actions=actions, properties=())
    return instance


@pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("gcc") is None,
    reason="Spin and gcc are Debian packages, not Python packages",
)
def test_spin_and_the_interpreter_agree(tmp_path):
    distinct = 0
    for seed in SEEDS:
        instance = generated(seed)
        ours = plain(instance, limit=5_000)
        assert not ours.stopped, f"seed {seed} has too many states for this test: choose another one"
        theirs = run_spin(instance, folder=tmp_path / str(seed), states=ours.distinct, timeout_s=60)
        assert not Comparison(f"seed {seed}", "Spin", ours, theirs).differences()
        distinct += theirs.distinct
    assert distinct > 100
