"""A proof does not hang on the order of hashes: the same queries, with the same answers, in every process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tidemark.models.instance import Instance
from tidemark.models.rooms import ROOT

pytestmark = pytest.mark.proof

ASKED = """
import hashlib, sys
from tidemark.checks.prove.prover import Prover
from tidemark.models.symbolic.subject import ProofSubject

for name in sys.argv[1:]:
    asked = []
    prover = Prover(ProofSubject(name), watch=asked.append)
    found = [prover.attempt(one, timeout_s=1.0) for one in prover.obligations]
    digest = hashlib.sha256("".join(f"{q.settings}{q.text}{q.result}" for q in asked).encode()).hexdigest()
    print(name, len(asked), digest, [(o.answer.status, sorted(o.answer.used), str(o.model)) for o in found])
"""
PROTOCOLS = (
    "tests.protocols_proof.voting:Voting",
    "tests.protocols_proof.locks:WithoutLemma",
    "tests.protocols_proof.odd:Flush",
    "tests.protocols_proof.odd:Signs",
)


def asked(seed: str) -> list[str]:
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", ASKED, *PROTOCOLS]
    run = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def test_three_hash_seeds_ask_the_same_and_come_to_the_same():
    one, two, three = (asked(seed) for seed in ("0", "1", "4711"))
    assert len(one) == len(PROTOCOLS)
    assert one == two == three
    voting = one[0]
    assert int(voting.split()[1]) >= 5
    assert "'proved'" in voting
    assert "'unknown'" in voting  # it is given up after the same work everywhere


def test_the_instance_of_a_model_is_the_same():
    assert str(Instance("m:C", {"B": 1, "A": 2})) == str(Instance("m:C", {"A": 2, "B": 1}))
