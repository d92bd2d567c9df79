"""Claims that follow from other claims in the same state: an order in which each rests on earlier ones."""

from collections.abc import Collection, Mapping


class ImpliedError(LookupError):
    """A claim that is listed as implied is no claim about states, or would be implied by itself."""


def in_order(
    implied: Mapping[str, tuple[str, ...]], *, claims: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """The implied claims, each after all implied claims that imply it. Raises ImpliedError for a circle
    (neither claim is shown to hold at the start), a claim without others, and an id that is none of
    ``claims``.
    """
    for claim, others in implied.items():
        strange = [name for name in (claim, *others) if name not in claims]
        if strange:
            raise ImpliedError(f"implied: {strange[0]!r} is no invariant or lemma that is proved here")
        if not others:
            raise ImpliedError(f"implied: {claim!r} has no claims that imply it")
    found: dict[str, tuple[str, ...]] = {}
    left = dict(implied)
    while left:
        ready = [claim for claim, others in left.items() if not left.keys() & set(others)]
        if not ready:
            raise ImpliedError(f"implied: a circle: each of {', '.join(left)} rests on another of them")
        for claim in ready:
            found[claim] = left.pop(claim)
    return found
