"""A part of the checks compares only its own manifests with their specifications; a whole run all."""

from pathlib import Path

import pytest

from tidemark.checks.cli.run import chosen_tasks, kept_of
from tidemark.checks.gate.registry import registry
from tidemark.checks.gate.settings import Settings
from tidemark.models.manifest import PinError, Tier

GOOD = """
name = "locks"
protocol = "tests.protocols_proof.locks:TicketLock"
[properties]
invariant = ["ticketlock.one_inside"]
lemma = ["ticketlock.inside_is_called", "ticketlock.numbers_differ", "ticketlock.numbers_were_drawn"]
transition_invariant = ["ticketlock.called_in_order"]
reachable = ["ticketlock.two_wait"]
[proof.locks-any-size]
expect = { every = "proved" }
"""


def chosen(tmp_path: Path, *, only: tuple[str, ...]) -> list[str]:
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text(GOOD)
    bad.write_text(
        GOOD.replace('"ticketlock.one_inside"', '"ticketlock.gone"')
        .replace('"locks"', '"others"')
        .replace("locks-any-size", "others-any-size")
    )
    kept = kept_of(Settings(build=tmp_path / "build"), registry())
    return [task.name for task in chosen_tasks([good, bad], tier=Tier.FAST, only=only, kept=kept)]


def test_a_broken_manifest_elsewhere_does_not_matter(tmp_path: Path) -> None:
    assert chosen(tmp_path, only=("locks-any-size",)) == ["prove/locks-any-size"]


@pytest.mark.parametrize("only", [(), ("others-any-size",), ("*any-size",)])
def test_a_broken_manifest_that_is_needed_is_red(tmp_path: Path, only: tuple[str, ...]) -> None:
    with pytest.raises(PinError, match="gone"):
        chosen(tmp_path, only=only)
