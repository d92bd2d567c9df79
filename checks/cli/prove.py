"""The commands about proofs that are not part of the gate: bounded runs, longer induction, lemmas."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console

from tidemark.checks.cli.ask import verdict_lines
from tidemark.checks.cli.options import named
from tidemark.checks.cli.run import gate
from tidemark.checks.gate.registry import registry
from tidemark.checks.gate.settings import Settings
from tidemark.checks.inputs.manifests import manifests as read
from tidemark.checks.prove.bounded import INDUCTIVE, bounded, by_k_induction
from tidemark.checks.prove.judge import JUDGE
from tidemark.checks.prove.minimise import implied_claims, minimise
from tidemark.checks.prove.proof import prove, size_text, subject_of
from tidemark.checks.prove.suggest import suggest as suggest_lemmas
from tidemark.checks.prove.types import DEPTH, can_fall, refuse_fall
from tidemark.checks.questions.ask import asked_about
from tidemark.checks.verdicts.commands import prove_command
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode, most_severe
from tidemark.checks.verdicts.plan import plan
from tidemark.checks.verdicts.verdict import Outcome, Subject, Verdict
from tidemark.models.cores import cores
from tidemark.models.manifest import Expected, ProofEntry, Tier
from tidemark.models.manifest.about import about
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec.language.spec import Property


@dataclass(frozen=True)
class Chosen:
    """A protocol named on the command line, or a proof of the manifest with what it expects."""

    name: str
    subject: ProofSubject
    entry: ProofEntry | None = None

    def about(self, prop: Property) -> Subject:
        """The subject of a verdict."""
        return Subject(protocol=self.name, property_id=prop.id, judge="prove", instance=self.name)

    def expects_refutation(self, claim: str) -> bool:
        """The manifest says that the claim is false."""
        return self.entry is not None and self.entry.expect.of(claim) is Expected.REFUTED


def _chosen(only: str, paths: Sequence[Path]) -> list[Chosen]:
    """``module:Class``, or the proofs of the manifest that match. Raises BadInputError."""
    if ":" in only:
        return [Chosen(only, ProofSubject(only))]
    tasks = plan(read(paths), tier=Tier.FULL, only=named(only), judge="prove")
    print(about((task.manifest, task.entry.name) for task in tasks))
    entries = [task.entry for task in tasks if isinstance(task.entry, ProofEntry)]
    return [Chosen(entry.name, subject_of(entry), entry) for entry in entries]


def on_spark(settings: Settings, *, only: str, seconds: float | None) -> int:
    """The proofs of the manifest that match, with their obligations as tasks of Spark; see ``gate``."""
    judge = replace(JUDGE, on_spark=True)
    judges = {**registry(), judge.name: judge}
    return gate(settings, only=named(only), judge=judge.name, judges=judges, seconds=seconds)


def several_steps(
    only: str,
    *,
    bmc: int | None,
    k_induction: int | None,
    claims: Sequence[str],
    seconds: float,
    seed: int,
    manifests: Sequence[Path],
) -> int:
    """Runs to depth ``bmc``, induction over ``k_induction`` steps, or both: one line a claim."""
    codes: list[ExitCode] = []
    for chosen in _chosen(only, manifests):
        wanted = _claims(chosen, claims)
        if can_fall(chosen.subject):
            refuse_fall(
                chosen.subject,
                depth=bmc if k_induction is None and bmc is not None else DEPTH,
                seconds=seconds,
            )
        print(f"{chosen.name}: {size_text(chosen.subject.spec)}")
        if bmc is not None:
            run = partial(
                bounded, depth=bmc, seconds=seconds, seed=seed, replay=prove_command(only, "--bmc", bmc)
            )
            codes += [
                _show(chosen, verdict) for p in wanted for verdict in run(chosen.subject, [p], chosen.about)
            ]
        if k_induction is not None:
            proof = prove(chosen.subject, seed=seed, jobs=cores())
            inductive = [prop for prop in wanted if prop.kind in INDUCTIVE]
            induct = partial(by_k_induction, k=k_induction, seconds=seconds, seed=seed)
            replay = prove_command(only, "--k-induction", k_induction)
            for prop in inductive:
                (verdict,) = induct(proof, [prop], chosen.about, replay=replay)
                codes.append(_show(chosen, verdict))
    return most_severe(codes).value


def _claims(chosen: Chosen, only: Sequence[str]) -> list[Property]:
    """The claims that a proof speaks of."""
    props = chosen.subject.spec.of_kind("invariant", "transition_invariant", "lemma")
    return asked_about(chosen.name, only, props)


def _show(chosen: Chosen, verdict: Verdict) -> ExitCode:
    """Print a verdict; the class of the result."""
    print("\n".join(verdict_lines(verdict, protocol=chosen.subject.protocol)))
    if verdict.outcome is Outcome.REFUTED:
        expected = chosen.expects_refutation(verdict.subject.property_id)
        return ExitCode.AS_EXPECTED if expected else ExitCode.UNEXPECTED_REFUTATION
    return ExitCode.INCONCLUSIVE if verdict.outcome is Outcome.INCONCLUSIVE else ExitCode.AS_EXPECTED


def suggest(
    protocol: str, *, without: Sequence[str], seconds: float, seed: int, manifests: Sequence[Path]
) -> int:
    """Print lemmas that complete the proof; the exit status says whether it is complete with them."""
    subject = _one(protocol, without, manifests)
    found = suggest_lemmas(subject, seconds=seconds, jobs=cores(), seed=seed, watch=_watch())
    if found.before is found.after and found.complete:
        print(f"{protocol}: the proof is complete; no lemma is missing")
        return ExitCode.AS_EXPECTED.value
    for lemma in found.lemmas:
        print("\n".join(f"    {line}".rstrip() for line in lemma.method().splitlines()), end="\n\n")
    print(
        f"{protocol}: lemmas: {len(found.lemmas)}; {found.states} reachable states filtered the candidates, "
        f"{found.dropped} of which were not inductive"
    )
    for claim in found.open:
        print(f"  no template helps {claim}")
    for action in found.never:
        print(f"  warning: no sampled state comes from the action {action}: lemmas about it are guesses")
    if found.stopped:
        print(f"  the search is not finished: {found.stopped}")
    if found.complete:
        print("  with these lemmas every claim is proved for any size")
        return ExitCode.AS_EXPECTED.value
    for outcome in found.after.open():
        print(f"  still open: {outcome.obligation.name}")
    return ExitCode.INCONCLUSIVE.value


def redundant(protocol: str, *, without: Sequence[str], seed: int, manifests: Sequence[Path]) -> int:
    """Print the lemmas that the proof does not need."""
    subject = _one(protocol, without, manifests)
    found = minimise(subject, seed=seed, jobs=cores(), watch=_watch())
    if found is None:
        print(f"{protocol}: the proof is not complete, so that no lemma can be called redundant")
        return ExitCode.INCONCLUSIVE.value
    print(f"{protocol}: {len(found.needed)} lemmas are needed, {len(found.redundant)} are not")
    for name in found.redundant:
        print(f"  redundant: {name}")
    for name in found.restored:
        print(f"  needed for any size, though not on the small instance: {name}")
    if found.redundant:
        print("  without all of these together every claim is still proved for any size")
    return ExitCode.AS_EXPECTED.value


def implied(protocol: str, *, seed: int, manifests: Sequence[Path]) -> int:
    """Print the claims that others imply in the same state, as an entry of a manifest says so."""
    found = implied_claims(_one(protocol, (), manifests), seed=seed, told=_watch())
    print(f"{protocol}: {len(found)} claims follow from others in the same state")
    if found:
        print("[proof.implied]")
    for claim, others in sorted(found.items()):
        print(f'"{claim}" = [{", ".join(f"{chr(34)}{other}{chr(34)}" for other in others)}]')
    return ExitCode.AS_EXPECTED.value


def _one(protocol: str, without: Sequence[str], manifests: Sequence[Path]) -> ProofSubject:
    chosen = _chosen(protocol, manifests)
    if len(chosen) > 1:
        names = ", ".join(item.name for item in chosen)
        raise BadInputError(f"{protocol!r} matches several proofs: {names}", remedy="name one of them")
    subject = chosen[0].subject
    props = {prop.id.partition(".")[2]: prop.id for prop in subject.spec.of_kind("lemma")}
    for name in without:
        if name.rpartition(".")[2] not in props:
            raise BadInputError(f"{protocol} has no lemma {name!r}", remedy=known_names(name, sorted(props)))
    left_out = frozenset(props[name.rpartition(".")[2]] for name in without)
    return ProofSubject(subject.protocol, subject.constants, without=left_out)


def _watch() -> Callable[[str], None]:
    """Progress on the terminal, on the error stream; none where there is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return lambda _text: None
    return lambda text: console.print(text, markup=False, highlight=False)
