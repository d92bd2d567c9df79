"""A proof does not hang on the order of hashes: the same queries, with the same answers, in every process.

What is compared, in processes of their own under two hash seeds (``asked.py``):

- of **every fast proof** of every manifest, those that must fail too: a digest of the traced specification;
- of proofs in which each kind of expression occurs (``ALL_WORDS``): a digest of all that the queries about
  each obligation assert, term by term as SMT-LIB text and in order, for each conjunct of the goal and each
  set of claims that is assumed; encoded, and not given to the solver. The sets that a small instance hints at
  are subsets of these, and are not among them;
- of the quick proofs (``QUICK``): every query of the first pass as it is asked, with the hints, settings and
  results, the status of every obligation, what it used, and the small models;
- of four protocols of the tests the same, with answers that are unknown.

The queries and answers of all fast proofs (1 min of processor time for each seed):
``PYTHONHASHSEED=1 python -m tests.checks.prove.asked``, compared by hand.
"""

import os
import sys

import pytest

from tests.checks.prove.asked import fast_proofs
from tests.processes import finished
from tidemark.checks.prove.prover import Prover
from tidemark.models.instance import Instance
from tidemark.models.rooms import ROOT
from tidemark.models.symbolic.hints import Hints, small_bounds
from tidemark.models.symbolic.solve import Query
from tidemark.models.symbolic.subject import ProofSubject

pytestmark = pytest.mark.proof

PROTOCOLS = (
    "tests.protocols_proof.textbook:Voting",
    "tests.protocols_proof.locks:WithoutLemma",
    "tests.protocols_proof.traps:Flush",
    "tests.protocols_proof.traps:Signs",
)


def said(seed: str, *arguments: str) -> list[str]:
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    done = finished([sys.executable, *arguments], cwd=ROOT, env=env, seconds=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


ALL_WORDS = ("any-size", "aliases-any-size", "ddl-any-size", "dispatch-any-size", "tso-any-size")
"""Fast proofs in which each kind of expression occurs."""

QUICK = ("store-any-size", "meta-must-fail", "queries-must-fail", "streaming-must-fail")
"""Fast proofs that take some tenths of a second each."""


@pytest.mark.slow
def test_fast_proofs_ask_the_same_and_get_the_same_answers_under_two_hash_seeds():
    arguments = ["-m", "tests.checks.prove.asked", "--encode", *ALL_WORDS, "--answer", *QUICK, *PROTOCOLS]
    one, two = (said(seed, *arguments) for seed in ("0", "4711"))
    assert len(one) == len(list(fast_proofs())) + len([*ALL_WORDS, *QUICK, *PROTOCOLS])
    asked = [line.split() for line in one if " asks " in line]
    assert all(int(number) > 0 for _name, _asks, number, _digest in asked)
    assert len({line.split()[-1] for line in one}) == len(one)
    (voting,) = [line for line in one if line.startswith(PROTOCOLS[0])]
    assert "proved unknown" in voting, "it is given up after the same work everywhere"
    assert one == two


def test_the_instance_of_a_model_is_the_same():
    assert str(Instance("m:C", {"B": 1, "A": 2})) == str(Instance("m:C", {"A": 2, "B": 1}))


def queries(names: list[str]) -> dict[str, list[str]]:
    """The texts that are asked about some obligations of flush, in the order in which they are given."""
    asked: list[Query] = []
    prover = Prover(ProofSubject("tidemark.spec.flush:Flush"), watch=asked.append)
    by_name = {one.name: one for one in prover.obligations}
    for name in names:
        prover.attempt(by_name[name], timeout_s=1.0)
    texts: dict[str, list[str]] = {}
    for query in asked:
        texts.setdefault(query.obligation, []).append(f"{query.settings}{query.text}{query.result}")
    return texts


def test_what_was_asked_before_changes_no_query():
    obligations = Prover(ProofSubject("tidemark.spec.flush:Flush")).obligations
    names = [
        one.name
        for one in obligations
        if not one.trivial and one.action in ("ack", "read_checkpoint", "consume")
    ]
    there, back = queries(names), queries(names[::-1])
    assert len(names) > 10
    assert there == back
    assert any("least#" in text for several in there.values() for text in several)


class EachIsAskedAbout(Hints):
    """Leaves out no lemma without asking."""

    def _needed(self) -> frozenset[str]:
        return frozenset(self._switches)


@pytest.mark.parametrize("protocol", ["tidemark.spec.flush:Flush", "tests.protocols_proof.textbook:Voting"])
def test_what_an_answer_rests_on_saves_questions_and_changes_no_core(protocol: str) -> None:
    prover = Prover(ProofSubject(protocol))
    instance = prover.subject.instance(small_bounds(prover.spec, elements=2, greatest=3))
    quick, slow = Hints(instance), EachIsAskedAbout(instance)
    hard = [one for one in prover.obligations if not one.trivial][:60]
    cores = [quick.of(one).core for one in hard]
    assert cores == [slow.of(one).core for one in hard]
    assert any(cores)
