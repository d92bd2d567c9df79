"""The table of all that must happen in the end: what is proved of it for any size, and of which runs; what is
judged within bounds only, and why.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tidemark.models.manifest import Expected, Kind, Manifest, ProofEntry
from tidemark.spec.language.protocol import ranking_of, resolve

HEAD = ("claim", "for any size", "within bounds, where it is not proved")
BOUNDED = "within bounds"
"""What the docstring of a claim says that no proof is for: in the paragraph that gives the reason."""


class Row(NamedTuple):
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


def liveness(manifests: Iterable[Manifest]) -> list[Row]:
    """All claims of the kind leads_to that the protocols pin, in the order of the manifests."""
    return [
        _row(manifest, claim)
        for manifest in manifests
        for claim in manifest.properties.get(Kind.LEADS_TO, ())
    ]


def liveness_text(rows: Iterable[Row]) -> str:
    """The table in Markdown."""
    shown = (HEAD, ("---",) * len(HEAD), *(_cells(row) for row in rows))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in shown)


def _row(manifest: Manifest, claim: str) -> Row:
    protocol = resolve(manifest.protocol)
    proofs = tuple(entry.name for entry in manifest.proof if _proves(manifest, entry, claim))
    numbers = ranking_of(protocol, claim).finitely if proofs else ()
    words = inspect.getdoc(getattr(protocol, claim.partition(".")[2])) or ""
    reasons = (" ".join(part.split()) for part in words.split("\n\n")[1:] if BOUNDED in part)
    return Row(
        claim,
        proofs,
        tuple(number.name for number in numbers),
        tuple(_instances(manifest, claim)),
        " ".join(reasons).replace("``", "`"),
    )


def _proves(manifest: Manifest, entry: ProofEntry, claim: str) -> bool:
    return (
        entry.protocol == manifest.protocol
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


def _cells(row: Row) -> tuple[str, str, str]:
    proved = f"proved: {_names(row.proofs)}" if row.proofs else f"not proved. {row.reason}".rstrip()
    if row.finitely:
        proved += f"; of runs in which {_names(row.finitely)} changes finitely often"
    return f"`{row.claim}`", proved, "" if row.proofs else _names(row.instances)


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"
