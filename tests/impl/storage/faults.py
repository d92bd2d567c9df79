"""Which operation of a medium goes wrong in an execution, and how. One does, at most."""

FAIL = "fail"
"""It fails without effect."""
TEAR = "tear"
"""A write fails half-way."""
LOSE = "lose"
"""It is done, and fails."""
DAMAGE = "damage"
"""The medium says that what it holds is damaged."""
GARBAGE = "garbage"
"""What is answered cannot be read."""
LIST, ERROR = "list", "error"
"""What is answered is no object, or one that tells of an error."""


class Faults:
    """The fault of one execution.

    Attributes:
        kind: of the fault; None: there is none.
        place: the number of the operation that it befalls, among those that it can befall.
        seen: how many operations it could befall there were.
        happened: how many faults have happened.
        words: what the medium says of it.
    """

    def __init__(self) -> None:
        self.kind: str | None = None
        self.place = 0
        self.happened = 0
        self.seen = 0
        self.words = ""

    def strikes(self, *kinds: str) -> str | None:
        """Return the kind of the fault if it befalls the operation that begins; ``kinds`` are possible."""
        if self.kind not in kinds:
            return None
        self.seen += 1
        if self.seen != self.place:
            return None
        self.happened += 1
        return self.kind
