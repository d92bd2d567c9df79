"""Values that never change, so that they can be compared, hashed and used as a key."""

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

V = TypeVar("V")


class FrozenMap(Mapping[str, V], Generic[V]):
    """A mapping by name that cannot be changed; equality, hash and text do not depend on its order. Lists
    inside become tuples. Raises TypeError for a value without a hash.
    """

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[str, V] | None = None) -> None:
        self._items: dict[str, V] = {name: frozen(value) for name, value in (items or {}).items()}
        self._hash = hash(frozenset(self._items.items()))

    def __getitem__(self, name: str) -> V:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return dict(self) == dict(other) if isinstance(other, Mapping) else NotImplemented

    def __repr__(self) -> str:
        return repr(dict(sorted(self._items.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenMap, (self._items,)  # a hash of text is another one in another process


def frozen(value: Any) -> Any:
    """The value with tuples in place of lists and frozen maps in place of mappings, at any depth."""
    if isinstance(value, list | tuple):
        return tuple(frozen(item) for item in value)
    return FrozenMap(value) if isinstance(value, Mapping) and not isinstance(value, FrozenMap) else value
