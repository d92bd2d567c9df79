"""``tidemark replay`` for a token of an implementation run: find its program, run it, show what happened."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidemark.checks.interleave.executions.recorded_execution import counterexample_of, witness
from tidemark.checks.interleave.executions.token import decode
from tidemark.checks.interleave.judge import program_of
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.manifest import InterleaveEntry, Manifest
from tidemark.models.simulation import ProgramRef, Violation


@dataclass(frozen=True)
class Replayed:
    """What a token shows now.

    name: the manifest's name of the program or mutant. violation: None if the execution is allowed now.
    """

    name: str
    program: ProgramRef
    shown: Counterexample
    violation: Violation | None


def replay_token(text: str, manifests: Iterable[Manifest]) -> Replayed:
    """Run the execution of a token again.

    Raises CorruptTokenError: the token is damaged; BadInputError: no program of the manifests has made it;
    DivergenceError: the program no longer behaves as recorded; the message says at which step.
    """
    digest = decode(text).program
    known = dict(_programs(manifests))
    name = next((name for name, program in known.items() if program.digest() == digest), None)
    if name is None:
        raise BadInputError(
            f"no program of the manifest has made this replay token (it says {digest})",
            remedy="a program's arguments are a part of it: use the manifest of the run, or run it again",
        )
    seen = witness(known[name], text)
    return Replayed(name, known[name], counterexample_of(seen), seen.violation)


def _programs(manifests: Iterable[Manifest]) -> Iterator[tuple[str, ProgramRef]]:
    """Programs, and mutants of programs, by name."""
    for manifest in manifests:
        hosts: dict[str, InterleaveEntry] = {entry.name: entry for entry in manifest.interleave}
        yield from ((host.name, program_of(host)) for host in hosts.values())
        yield from (
            (entry.name, program_of(entry)) for entry in manifest.conform if entry.program is not None
        )
        for mutant in manifest.mutant:
            if mutant.instance in hosts:
                changed = hosts[mutant.instance].model_copy(update={"program": mutant.ref})
                yield mutant.name, program_of(changed)
