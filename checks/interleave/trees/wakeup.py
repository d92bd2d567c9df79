"""Wakeup trees: beginnings of executions that are still to be run, merged where they are equivalent.

A word is a sequence of events, each with what it is expected to touch. The tree of a node holds words none of
which begins, up to swapping independent steps, with an event that sleeps there. A leaf covers a word if what
begins with the leaf can begin with the word, too.

What a step touches may depend on values, so that an expectation may be wrong in the last step of a word. A
leaf therefore keeps the words that it covers: they are looked at again when it is known what it touches, or
when it is dropped.
"""

from collections.abc import Iterator, Mapping

from tidemark.models.simulation import Footprint, independent

Word = tuple[tuple[str, Footprint], ...]
"""Events that are to happen one after the other, each with what it is expected to touch."""

EVERYTHING = Footprint(-1, -1)
"""All objects: of an event of which nothing is known."""


class Branch:
    """An event that is to be tried, and below it what is to follow. Without such: anything may follow.

    Attributes:
        covered: the words that this leaf covers, from where its event is to happen.
        forced: it has to be tried, whatever sleeps, and is never dropped.
    """

    __slots__ = ("children", "covered", "footprint", "forced", "label")

    def __init__(self, label: str, footprint: Footprint) -> None:
        self.label = label
        self.footprint = footprint
        self.children: list[Branch] = []
        self.covered: dict[Word, None] = {}
        self.forced = footprint is EVERYTHING


def insert(branches: list[Branch], word: Word) -> None:
    """Add a word to a tree, unless a leaf covers it."""
    while word:
        for branch in branches:
            known = branch.footprint if branch.children and not branch.forced else None
            rest = after(branch.label, known, branch.footprint, word)
            if rest is not None:
                break
        else:
            _append(branches, word)
            return
        if not branch.children:
            branch.covered[word] = None
            return
        word, branches = rest, branch.children


def _append(branches: list[Branch], word: Word) -> None:
    for label, footprint in word:
        branches.append(Branch(label, footprint))
        branches = branches[-1].children


def after(label: str, known: Footprint | None, expected: Footprint, word: Word) -> Word | None:
    """Return what is left of a word when an event is taken first; None if the word cannot begin with it."""
    for place, (other, footprint) in enumerate(word):
        if other == label:
            before = word[:place]
            return before + word[place + 1 :] if commutes(known or footprint, before) else None
    return word if commutes(known or expected, word) else None


def begins_with(asleep: Mapping[str, Footprint], word: Word, excluding: Mapping[str, object]) -> bool:
    """Tell whether what begins with a word is covered by what begins with a sleeping event.

    ``excluding``: events that take others with them. What races with these is never seen, so that they only
    cover words in which they happen.
    """
    for label, footprint in asleep.items():
        if label in excluding and not any(label == other for other, _ in word):
            continue
        if after(label, footprint, footprint, word) is not None:
            return True
    return False


def prune(
    branches: list[Branch], asleep: Mapping[str, Footprint], excluding: Mapping[str, object]
) -> Iterator[Word]:
    """Drop what is covered by what begins with a sleeping event. Yield the words that were covered by it."""
    for branch in tuple(branches):
        if branch.forced:
            continue
        if branch.label not in asleep:
            below = {
                label: footprint
                for label, footprint in asleep.items()
                if independent(footprint, branch.footprint)
            }
            if branch.children:
                first = (branch.label, branch.footprint)
                for word in prune(branch.children, below, excluding):
                    yield (first, *word)
                if branch.children:
                    continue
            elif below.keys() <= excluding.keys():
                continue
        branches.remove(branch)
        yield from _covered(branch)


def _covered(branch: Branch) -> Iterator[Word]:
    yield from branch.covered
    for child in branch.children:
        for word in _covered(child):
            yield ((branch.label, branch.footprint), *word)


def commutes(footprint: Footprint, word: Word) -> bool:
    """Tell whether a step is independent of all steps of a word."""
    return all(independent(footprint, other) for _, other in word)
