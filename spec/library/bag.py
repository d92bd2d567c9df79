"""A bag of messages that were sent and not yet received, in any order."""

from collections.abc import Callable
from typing import Any

from tidemark.spec.language.protocol import require
from tidemark.spec.language.quantifiers import each, exists
from tidemark.spec.language.terms import Liftable, Term, ite
from tidemark.spec.language.types import Map, Set
from tidemark.spec.library.piece import Bound, Piece, fields_of, named, numbered


class Bag(Piece):
    """``asked = Bag(Node, Ballot)``: messages with a node and a ballot.

    Without ``copies`` a message that is sent twice while it is under way is one message; the bag is the set
    ``asked_held``. ``copies=Count`` names a ``Nat``: the map ``asked_held`` counts the copies under way, and
    an instance bounds their number.
    """

    def __init__(self, *fields: Any, copies: Any = None) -> None:
        super().__init__()
        self.fields = fields_of("Bag", fields)
        self.copies = copies
        self.view = BoundBag

    def declare(self, owner: type) -> None:
        """Add the map of messages under way."""
        if self.copies is None:
            self.add(owner, "held", Set[self.fields], False)
        else:
            self.add(owner, "held", Map[(*self.fields, self.copies)], 0)


class BoundBag(Bound):
    """A bag in one state."""

    def has(self, *message: Liftable) -> Term:
        """The message is under way."""
        held: Term = self.get("held")[message]
        return held if self.piece.copies is None else held > 0

    def put(self, *message: Liftable) -> None:
        """Send the message."""
        held = self.get("held")
        held[message] = True if self.piece.copies is None else held[message] + 1

    def put_all(self, condition: Callable[..., Liftable]) -> None:
        """Send each message for which the condition holds: a broadcast."""
        held, names = self.get("held"), numbered("field", len(self.piece.fields))

        def after(*message: Term) -> Term:
            if self.piece.copies is None:
                return held[message] | condition(*message)
            return ite(condition(*message), held[message] + 1, held[message])

        self.set("held", each(*self.piece.fields, named(*names)(after)))

    def take(self, *message: Liftable) -> None:
        """Receive, or lose, the message: possible only if it is under way."""
        require(self.has(*message))
        held = self.get("held")
        held[message] = False if self.piece.copies is None else held[message] - 1

    @property
    def empty(self) -> Term:
        """No message is under way."""
        names = numbered("field", len(self.piece.fields))
        return ~exists(*self.piece.fields, named(*names)(self.has))
