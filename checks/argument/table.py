"""The table of all that the protocols take as given: what is assumed and needed, and what need not be
assumed, since a variant without it is proved.

The table of all that must happen in the end: what is proved of it for any size, and of which runs; what is
judged within bounds only, and why.
"""

import inspect
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.tree import Tree

from tidemark.checks.argument.environment import FINER
from tidemark.checks.argument.graph import DERIVED, ENVIRONMENT, FOLLOWS, Argument, Reliance, Step
from tidemark.checks.verdicts.verdict import SECOND_OPINION
from tidemark.models.manifest import Expected, Kind, Manifest, ProofEntry
from tidemark.spec.language.protocol import ranking_of, resolve


def argument_tree(argument: Argument, name: str) -> Tree:
    """What the protocol assumes, what supports it, and so on down to what rests on nothing.

    What a protocol rests on is shown once; further below only its name.
    """
    return _grow(Tree(_heading(argument, name), highlight=False), argument, name, shown={name})


def _heading(argument: Argument, name: str) -> str:
    rests = argument.reliances(name)
    return name if rests else f"{name}: no assumptions"


def _grow(tree: Tree, argument: Argument, name: str, *, shown: set[str]) -> Tree:
    for one in argument.reliances(name):
        branch = tree.add(_line(one))
        own = one.of_environment or one.of_variant
        owner = None if own or one.problem else argument.owner(one.claim)
        if owner in shown:
            branch.add(f"{owner}: as above")
        elif owner is not None:
            shown.add(owner)
            _grow(branch.add(_heading(argument, owner)), argument, owner, shown=shown)
    for step in argument.steps(name):
        tree.add(_reading(step))
    return tree


def _reading(step: Step) -> str:
    action, _, owner = step.claim.removeprefix(FOLLOWS).partition(".")
    if step.problem:
        return f"NOT SUPPORTED {action} relies on {owner}: {step.problem}"
    return f"{action} relies on {owner} as {step.reading.partition(':')[2]} reads it"


def _line(one: Reliance) -> str:
    if one.problem:
        return f"NOT SUPPORTED {one.claim} ({one.where}): {one.problem}"
    if one.of_environment:
        option = one.claim.removeprefix(ENVIRONMENT)
        return f"assumes {option}: {one.where.rstrip('.')}; without it a claim breaks in {one.support}"
    if one.of_variant:
        return (
            f"needs not assume: {one.where.rstrip('.')}; in finer steps proved for any size by {one.support}"
        )
    return f"relies on {one.claim} in {one.where}; proved for any size by {one.support}"


def argument_dot(argument: Argument) -> str:
    """Protocols as boxes, assumptions about the environment as notes, an arrow for each thing relied on."""
    lines = ["digraph argument {", '  rankdir=BT; node [shape=box, fontname="sans-serif"];']
    for name in argument.manifests:
        lines.append(f'  "{name}";')
        for one in argument.reliances(name):
            if one.of_variant:
                continue
            colour = ", color=red" if one.problem else ""
            if one.of_environment:
                lines.append(f'  "{name}.{one.claim}" [shape=note, label="{one.where}"{colour}];')
                lines.append(f'  "{name}.{one.claim}" -> "{name}" [style=dashed];')
            else:
                owner = argument.owner(one.claim) or "nobody"
                lines.append(f'  "{owner}" -> "{name}" [label="{one.claim}"{colour}];')
    return "\n".join([*lines, "}"]) + "\n"


LIVENESS_HEAD = ("claim", "for any size", "within bounds, where it is not proved")
BOUNDED = "within bounds"
"""What the docstring of a claim says that no proof is for: in the paragraph that gives the reason."""


class LivenessRow(NamedTuple):
    """One leads_to of a protocol.

    Attributes:
        claim: its id.
        proofs: the entries that prove it of the protocol itself, for any size.
        finitely: numbers of the state; the proof is of the runs in which these change finitely often.
        instances: the bounded entries in which it holds: of the protocol, or of variants if there is none.
        reason: why it is judged within bounds only, in the words of its docstring; empty if they give none.
    """

    claim: str
    proofs: tuple[str, ...]
    finitely: tuple[str, ...]
    instances: tuple[str, ...]
    reason: str


def liveness(manifests: Iterable[Manifest]) -> list[LivenessRow]:
    """All claims of the kind leads_to that the protocols pin, in the order of the manifests."""
    return [
        _liveness_row(manifest, claim)
        for manifest in manifests
        for claim in manifest.properties.get(Kind.LEADS_TO, ())
    ]


def liveness_text(rows: Iterable[LivenessRow]) -> str:
    """The table in Markdown."""
    shown = (LIVENESS_HEAD, ("---",) * len(LIVENESS_HEAD), *(_cells(row) for row in rows))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in shown)


def _liveness_row(manifest: Manifest, claim: str) -> LivenessRow:
    protocol = resolve(manifest.protocol)
    proofs = tuple(entry.name for entry in manifest.proof if _proves(manifest, entry, claim))
    numbers = ranking_of(protocol, claim).finitely if proofs else ()
    words = inspect.getdoc(getattr(protocol, claim.partition(".")[2])) or ""
    reasons = (" ".join(part.split()) for part in words.split("\n\n")[1:] if BOUNDED in part)
    return LivenessRow(
        claim,
        proofs,
        tuple(number.name for number in numbers),
        tuple(_instances(manifest, claim)),
        " ".join(reasons).replace("``", "`"),
    )


def _proves(manifest: Manifest, entry: ProofEntry, claim: str) -> bool:
    return (
        entry.protocol == manifest.protocol
        and not entry.name.endswith(SECOND_OPINION)  # it answers for another entry
        and claim in manifest.claims_of(entry, [Kind.LEADS_TO])
        and entry.expect.of(claim) is Expected.PROVED
    )


def _instances(manifest: Manifest, claim: str) -> Iterator[str]:
    holds = [
        entry
        for entry in manifest.instance
        if claim in manifest.claims_of(entry, [Kind.LEADS_TO]) and entry.expect.of(claim) is Expected.HOLDS
    ]
    own = [entry for entry in holds if entry.protocol == manifest.protocol]
    return (entry.name for entry in own or holds)


def _cells(row: LivenessRow) -> tuple[str, str, str]:
    proved = f"proved: {_names(row.proofs)}" if row.proofs else f"not proved. {row.reason}".rstrip()
    if row.finitely:
        proved += f"; of runs in which {_names(row.finitely)} changes finitely often"
    return f"`{row.claim}`", proved, "" if row.proofs else _names(row.instances)


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


HEAD = ("protocol", "assumption", "in words", "how it is known")


class Row(NamedTuple):
    """One thing that a protocol takes as given. ``known``: what supports it, or why nothing does."""

    protocol: str
    assumption: str
    words: str
    known: str


def assumptions(argument: Argument, names: tuple[str, ...] = ()) -> list[Row]:
    """The rows of some protocols, of all by default: what is assumed first, then what is derived."""
    shown = names or tuple(argument.manifests)
    found = [row for name in shown for row in (*_environment(argument, name), *_constants(argument, name))]
    return [*found, *(row for name in shown for row in _derived(argument, name))]


def assumptions_text(argument: Argument, names: tuple[str, ...] = ()) -> str:
    """The table in Markdown."""
    rows = [HEAD, ("---",) * len(HEAD), *assumptions(argument, names)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _environment(argument: Argument, name: str) -> Iterator[Row]:
    for one in argument.reliances(name):
        if one.of_environment:
            needed, _, finer = one.support.partition(FINER)
            known = f"needed: `{needed}`" + (f"; in finer steps `{finer}`" if finer else "")
            yield _row(one, one.claim.removeprefix(ENVIRONMENT), one.problem or known)


def _constants(argument: Argument, name: str) -> Iterator[Row]:
    for one in argument.spec(name).assumptions:
        words = _sentence(one.description)
        yield Row(name, f"`{one.id.partition('.')[2]}`", words, "a condition on the constants")


def _derived(argument: Argument, name: str) -> Iterator[Row]:
    for one in argument.reliances(name):
        if one.of_variant:
            proof = one.claim.removeprefix(DERIVED)
            yield _row(one, "none", one.problem or f"derived: `{proof}` is without it")


def _row(one: Reliance, assumption: str, known: str) -> Row:
    named = assumption if assumption == "none" else f"`{assumption}`"
    return Row(one.protocol, named, _sentence(one.where), known)


def _sentence(words: str) -> str:
    """As a sentence, on one line."""
    text = " ".join(words.split()).rstrip(".")
    return f"{text[0].upper()}{text[1:]}."
