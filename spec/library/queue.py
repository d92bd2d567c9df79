"""A queue: first in, first out. Removed items leave no trace, so that equal queues are equal states."""

from typing import Any

from tidemark.spec.language.declare import lemma
from tidemark.spec.language.errors import SpecError
from tidemark.spec.language.protocol import require
from tidemark.spec.language.quantifiers import each, exists, forall
from tidemark.spec.language.terms import Liftable, Term, all_of, implies
from tidemark.spec.language.types import NumberType, Set
from tidemark.spec.library.piece import Bound, Piece, fields_of, named, numbered


class Queue(Piece):
    """``inbox = Queue(Kind, Node, place=Place)``: items of a kind and a node, one behind the other.

    ``place`` is a ``Nat``; its bound in an instance is the capacity of the queue. The state is
    ``inbox_length`` and the set ``inbox_item`` of (place, fields). Taking an item moves the others one place
    to the front and clears the last place. Two lemmas describe the set: no place has two items, and the
    places from the length on have none.
    """

    def __init__(self, *fields: Any, place: Any) -> None:
        super().__init__()
        self.fields = fields_of("Queue", fields)
        if not isinstance(place, NumberType) or place.signed:
            raise SpecError(f"a Queue with {place!r} as its places", remedy="Name a Nat: place=Place")
        self.place = place
        self.view = BoundQueue

    def declare(self, owner: type) -> None:
        """Add the items, the length and the lemmas."""
        self.add(owner, "item", Set[(self.place, *self.fields)], False)
        self.add(owner, "length", self.place, 0)
        count = len(self.fields)
        one, other = numbered("one", count), numbered("other", count)

        def single(s: Any) -> Term:
            queue = getattr(s, self.name)

            def same(place: Term, *values: Term) -> Term:
                first, second = values[:count], values[count:]
                equal = all_of(*(a == b for a, b in zip(first, second, strict=True)))
                return implies(queue.at(place, *first) & queue.at(place, *second), equal)

            return forall(self.place, *self.fields, *self.fields, named("place", *one, *other)(same))

        def ended(s: Any) -> Term:
            queue = getattr(s, self.name)

            def below(place: Term, *values: Term) -> Term:
                return implies(queue.at(place, *values), place < queue.length)

            return forall(self.place, *self.fields, named("place", *one)(below))

        self.claim(owner, "single", lemma()(single), f"No place of the queue {self.name} has two items.")
        self.claim(owner, "ended", lemma()(ended), f"No place behind the queue {self.name} has an item.")


class BoundQueue(Bound):
    """A queue in one state."""

    @property
    def length(self) -> Term:
        """How many items wait."""
        return self.get("length")

    @property
    def empty(self) -> Term:
        """No item waits."""
        return self.length == 0

    def at(self, place: Liftable, *item: Liftable) -> Term:
        """The item is at the place; places count from 0, the front."""
        return self.get("item")[(place, *item)]

    def first(self, *item: Liftable) -> Term:
        """The item is the next one to take."""
        return self.at(0, *item)

    def has(self, *item: Liftable) -> Term:
        """The item waits at some place."""
        return exists(self.piece.place, named("place")(lambda place: self.at(place, *item)))

    def put(self, *item: Liftable) -> None:
        """Add an item at the end."""
        self.get("item")[(self.length, *item)] = True
        self.set("length", self.length + 1)

    def take(self, *item: Liftable) -> None:
        """Take the item from the front: possible only if it is the first one."""
        require(self.first(*item))
        items = self.get("item")
        names = numbered("field", len(self.piece.fields))
        moved = named("place", *names)(lambda place, *values: items[(place + 1, *values)])
        self.set("item", each(self.piece.place, *self.piece.fields, moved))
        self.set("length", self.length - 1)
