"""The packed layout."""

import random

import pytest

from tests.models.drawn.text import any_state
from tidemark.models.instance import Instance
from tidemark.models.native.codec import WORD, Codec
from tidemark.models.native.errors import NativeError

LAB = "tests.protocols.features:Lab"
WEIGHT = [[0, 0]] * 3


def lab(places: int, nodes: int = 2, wide: tuple[int, int] = (0, 0)) -> Instance:
    bounds: dict[str, int | tuple[int, int]] = {
        "Node": nodes, "Place": places, "Level": (-2, 2), "Wide": wide
    }  # fmt: skip
    return Instance(LAB, bounds, {"owner": [0] * (places + 1), "weight": WEIGHT})


@pytest.mark.parametrize("places", [1, 3, 20, 50])
def test_states_come_back(places: int) -> None:
    instance = lab(places)
    codec, draw = Codec(instance), random.Random(places)
    states = [any_state(instance, draw) for _ in range(50)]
    assert codec.unpack_all(codec.pack_all(states)) == states
    assert len({tuple(row) for row in codec.pack_all(states).tolist()}) == len(set(states))


@pytest.mark.parametrize("places", [1, 3, 20, 50])
def test_entries_lie_apart_and_within_a_word(places: int) -> None:
    codec = Codec(lab(places))
    taken: set[tuple[int, int]] = set()
    for field in codec.fields:
        spots = field.places()
        assert len(spots) == (field.entries if field.bits else 0)
        for word, shift in spots:
            assert shift + field.bits <= WORD
            bits = {(word, bit) for bit in range(shift, shift + field.bits)}
            assert not bits & taken
            taken |= bits
    assert len(taken) == codec.bits
    assert {word for word, _ in taken} == set(range(codec.words))


def test_a_map_is_cut_where_that_saves_a_word() -> None:
    codec = Codec(lab(20))
    assert codec.words == -(-codec.bits // WORD)
    assert any(len(field.runs) > 1 for field in codec.fields)


def test_a_single_value_takes_no_bits() -> None:
    field = Codec(lab(1)).by_name["wide"]
    assert (field.bits, field.runs) == (0, ())


def test_too_many_words_name_the_widest_variable_and_the_remedy() -> None:
    with pytest.raises(NativeError, match=r"more than 64; the widest variable is paint .* lower the bounds"):
        Codec(lab(60, nodes=40))


def test_a_value_outside_the_bounds_is_named() -> None:
    instance = lab(1)
    state = list(any_state(instance, random.Random(0)))
    state[1] = 9
    with pytest.raises(NativeError, match=r"here holds 9, outside the bounds of Place .* widen"):
        Codec(instance).pack(tuple(state))
