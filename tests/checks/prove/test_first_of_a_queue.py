"""A number that exists has a least one: what a proof may use of queues, and no more than that."""

from __future__ import annotations

import pytest

from tidemark.checks.prove.proof import prove

pytestmark = pytest.mark.proof


def test_the_first_exists_and_no_more_is_proved() -> None:
    proof = prove("tests.protocols_proof.desks:Desks", timeout_s=5)
    assert all(one.proved for one in proof.of("desks.a_desk_has_a_first"))
    assert not all(one.proved for one in proof.of("desks.nobody_is_the_first"))
