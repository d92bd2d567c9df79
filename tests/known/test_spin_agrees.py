"""Spin counts the same on the exports of the ports and of the peers."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.protocols.known.counts import ROWS, Row
from tidemark.checks.crosscheck.peers import PEERS
from tidemark.checks.crosscheck.spin import run_spin

HERE = ("AlternatingBit", "Barriers", "DiningPhilosophers", "InnerFifo", "Prisoners", "TwoPhaseWithBackup")
"""The rows with the richest steps; Spin agrees on the others too, which take it longer to compile."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("spin") is None or shutil.which("gcc") is None, reason="spin or gcc is not installed"
    ),
]


def rows() -> list[Any]:
    """The rows that are compared at each run."""
    return [pytest.param(row, id=row.name) for row in ROWS if row.name in HERE]


@pytest.mark.parametrize("row", rows())
def test_ports(row: Row, tmp_path: Path) -> None:
    spin = run_spin(row.instance, folder=tmp_path, states=row.distinct, timeout_s=60)
    assert not spin.stopped
    assert (spin.distinct, spin.generated) == (row.distinct, row.total)
    claims = {claim.id: claim.kind for claim in row.instance.spec.properties}
    refuted = {claim.partition(".")[2] for claim in spin.decided if claims[claim] != "reachable"}
    assert refuted == set(row.refuted)


@pytest.mark.parametrize("name", ["tso-s", "flush-cp-s"])
def test_peers(name: str, tmp_path: Path) -> None:
    peer = PEERS[name]
    spin = run_spin(peer.instance, folder=tmp_path, states=peer.distinct, timeout_s=60)
    assert not spin.stopped
    assert (spin.distinct, spin.generated) == (peer.distinct, peer.generated)
    assert not spin.decided
