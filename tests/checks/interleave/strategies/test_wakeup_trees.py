"""Wakeup trees: words are merged, covered, dropped and given back."""

from tidemark.checks.interleave.trees.wakeup import (
    EVERYTHING,
    Branch,
    after,
    begins_with,
    commutes,
    insert,
    prune,
)
from tidemark.models.simulation import Footprint

X, Y, Z = Footprint(0, 1), Footprint(0, 2), Footprint(0, 4)
"""Steps that write one cell each, and so are independent of each other."""
READ_X = Footprint(1, 0)


def shape(branches: list[Branch]) -> dict[str, object]:
    return {branch.label: shape(branch.children) for branch in branches}


def tree(*words: tuple[tuple[str, Footprint], ...]) -> list[Branch]:
    branches: list[Branch] = []
    for word in words:
        insert(branches, word)
    return branches


def test_a_word_becomes_a_path():
    assert shape(tree((("a", X), ("b", X)))) == {"a": {"b": {}}}


def test_equivalent_beginnings_are_one_path():
    """Both begin with a and b in either order, since these are independent."""
    first = (("a", X), ("b", Y), ("c", Footprint(0, 3)))
    second = (("b", Y), ("a", X), ("d", Footprint(0, 3)))
    assert shape(tree(first, second)) == {"a": {"b": {"c": {}, "d": {}}}}


def test_a_leaf_covers_what_can_begin_with_it_and_keeps_it():
    branches = tree((("a", X),), (("b", Y), ("a", X)))
    assert shape(branches) == {"a": {}}
    assert list(branches[0].covered) == [(("b", Y), ("a", X))]


def test_dependent_beginnings_are_branches():
    assert shape(tree((("a", X),), (("b", X), ("a", X)))) == {"a": {}, "b": {"a": {}}}


def test_an_event_of_which_nothing_is_known_covers_only_words_that_hold_it():
    branches = [Branch("a", EVERYTHING)]
    insert(branches, (("a", X), ("b", X)))
    insert(branches, (("c", Y),))
    assert shape(branches) == {"a": {}, "c": {}}
    assert list(branches[0].covered) == [(("a", X), ("b", X))]
    assert branches[0].forced


def test_what_is_left_of_a_word_when_an_event_is_taken_first():
    word = (("a", X), ("b", Y), ("c", X))
    assert after("b", None, Y, word) == (("a", X), ("c", X))
    assert after("c", None, X, word) is None
    assert after("other", None, Z, word) == word
    assert after("other", None, READ_X, word) is None
    assert after("c", Z, X, word) == (("a", X), ("b", Y)), "what is known counts more than what is expected"


def test_a_sleeping_event_covers_words_that_can_begin_with_it():
    word = (("a", X), ("b", X))
    assert begins_with({"a": X}, word, {})
    assert begins_with({"z": Z}, word, {}), "it can come first, although the word does not hold it"
    assert not begins_with({"b": X}, word, {})
    assert not begins_with({"z": READ_X}, word, {})


def test_a_sleeping_event_that_excludes_others_covers_only_words_that_hold_it():
    word = (("a", X), ("b", X))
    assert begins_with({"a": X}, word, {"a": {"c"}})
    assert not begins_with({"z": Z}, word, {"z": {"c"}})


def test_a_dropped_leaf_gives_back_what_it_covered():
    branches = tree((("a", X), ("b", Y)), (("a", X), ("b", Y), ("c", Y)), (("d", X),))
    assert shape(branches) == {"a": {"b": {}}, "d": {}}
    assert list(prune(branches, {"s": Z}, {})) == [(("a", X), ("b", Y), ("c", Y))]
    assert branches == []


def test_pruning_keeps_what_must_be_tried_and_what_nothing_covers():
    branches = [Branch("a", EVERYTHING), *tree((("b", X),))]
    assert list(prune(branches, {"s": READ_X}, {})) == []
    assert shape(branches) == {"a": {}, "b": {}}
    assert list(prune(branches, {"s": Z}, {"s": {"c"}})) == []
    assert shape(branches) == {"a": {}, "b": {}}


def test_what_commutes():
    assert commutes(Z, (("a", X), ("b", Y)))
    assert not commutes(EVERYTHING, (("a", READ_X),))
    assert commutes(READ_X, (("a", READ_X),))
