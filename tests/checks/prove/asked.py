"""Prints digests of what the fast proofs of all manifests ask the solver, and of what it answers.

    python -m tests.checks.prove.asked --encode NAME... --answer NAME...

A line for each specification; for each entry to encode what its first queries assert; for each entry or
protocol to answer (all entries, if none is named) every query and its result. A line gives the number of
queries and ends with a digest. A process under another PYTHONHASHSEED must print the same.
"""

import argparse
import hashlib
from collections.abc import Iterator, Sequence

from tests.manifests import manifests
from tidemark.checks.prove.proof import subject_of
from tidemark.checks.prove.prover import FIRST_S, Prover
from tidemark.models.manifest import ProofEntry, Tier
from tidemark.models.symbolic.obligations import Obligation
from tidemark.models.symbolic.solve import Query, asserted
from tidemark.models.symbolic.subject import ProofSubject


def fast_proofs() -> Iterator[ProofEntry]:
    for manifest in manifests().values():
        yield from (entry for entry in manifest.proof if entry.tier is Tier.FAST)


def digest(parts: Sequence[str]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(f"{len(part)}:{part}".encode())
    return found.hexdigest()


def encoded(entry: ProofEntry) -> str:
    """The assertions of each obligation's first queries, with all sets of lemmas but those of a hint."""
    prover = Prover(subject_of(entry))
    texts: dict[int, tuple[str, object]] = {}  # the terms are kept, so that no number is given twice
    queries: list[str] = []
    for obligation in wanted(entry, prover):
        for terms in asserted(prover.terms, obligation):
            for term in terms:
                if term.get_id() not in texts:
                    texts[term.get_id()] = digest([term.sexpr()]), term
            queries.append(digest([obligation.name, *(texts[term.get_id()][0] for term in terms)]))
    return f"{entry.name} asks {len(queries)} {digest(queries)}"


def answered(name: str, prover: Prover, obligations: Sequence[Obligation], seconds: float) -> str:
    """All queries of the first pass with their results, and what became of each obligation."""
    asked: list[Query] = []
    prover.watch = asked.append
    found = [prover.attempt(one, timeout_s=seconds) for one in obligations]
    queries = digest([f"{one.settings}{one.text}{one.result}" for one in asked])
    answers = [(one.answer.name, one.answer.status, sorted(one.answer.used), str(one.model)) for one in found]
    statuses = " ".join(sorted({one.answer.status for one in found}))
    return f"{name} {len(asked)} answers {statuses} {queries} {digest([str(answers)])}"


def wanted(entry: ProofEntry, prover: Prover) -> list[Obligation]:
    """The obligations for which an entry needs a solver."""
    return [
        one
        for one in prover.obligations
        if not one.trivial and (not entry.only_failing or one.name in entry.failing)
    ]


def main(encode: Sequence[str], answer: Sequence[str]) -> None:
    for entry in fast_proofs():
        print(entry.name, "specification", digest([repr(subject_of(entry).spec)]), flush=True)
        if entry.name in encode:
            print(encoded(entry), flush=True)
        if not answer or entry.name in answer:
            prover = Prover(subject_of(entry))
            seconds = min(FIRST_S, entry.timeout_s)
            print(answered(entry.name, prover, wanted(entry, prover), seconds), flush=True)
    for protocol in (name for name in answer if ":" in name):
        prover = Prover(ProofSubject(protocol))
        print(answered(protocol, prover, prover.obligations, seconds=1.0), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--encode", nargs="*", default=())
    parser.add_argument("--answer", nargs="*", default=())
    main(**vars(parser.parse_args()))
