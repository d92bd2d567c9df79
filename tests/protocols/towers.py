"""Two protocols, the second of which assumes what the first guarantees."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.language import (
    Bool,
    Nat,
    Protocol,
    Self,
    TypeAlias,
    action,
    invariant,
    ite,
    option,
    require,
    transition_invariant,
)


class Below(Protocol):
    """A counter that only grows, and is read."""

    Level: TypeAlias = Nat

    top: Level = 0
    given: Level = 0

    @action()
    def grow(s) -> None:
        """One more."""
        s.top = s.top + 1

    @action()
    def answer(s) -> None:
        """Somebody is told what it is."""
        require(s.given != s.top)
        s.given = s.top

    @invariant()
    def never_falls(s) -> Bool:
        """Whoever asks is told no less than what was told before."""
        return s.given <= s.top

    @transition_invariant()
    def grows(before, after: Self) -> Bool:
        """It never falls."""
        return after.top >= before.top


class Above(Protocol):
    """Reads the counter from afar, and remembers what it saw."""

    Level: TypeAlias = Nat

    FRESH: Bool = option(True, assumes="an answer is not older than the one before it")

    seen: Level = 0
    past: Level = 0

    @action(relies_on=("below.never_falls",))
    def read(s, level: Level) -> None:
        """An answer arrives."""
        require(~s.FRESH | (level >= s.seen))
        s.past = s.seen
        s.seen = level

    @invariant()
    def in_order(s) -> Bool:
        """What was seen first is not greater."""
        return s.past <= s.seen


class Stale(Above):
    """Without the assumption."""

    FRESH = False


class Coarse(Above):
    """Assumes something about a step that it does not look into."""

    TOGETHER: Bool = option(True, assumes="what was seen and what was seen before change together")


class InSteps(Coarse):
    """Looks into the step."""

    late: Bool = False

    @action(relies_on=("below.never_falls",))
    def read(s, level: Coarse.Level) -> None:
        require(~s.late)
        require(~s.FRESH | (level >= s.seen))
        s.past = ite(s.TOGETHER, s.seen, level + 1)
        s.seen = level
        s.late = ~s.TOGETHER

    @action()
    def catch_up(s) -> None:
        """The other half."""
        require(s.late)
        s.past = s.seen
        s.late = False


class Apart(InSteps):
    """The halves of the step are two."""

    TOGETHER = False


class Peeks(Above):
    """Has a step more, which relies too."""

    @action(relies_on=("below.never_falls",))
    def peek(s, level: Above.Level) -> None:
        """It is told a second time."""
        require(level >= s.seen)
        s.seen = level


class Circular(Below):
    """Relies on those who rely on it."""

    @action(relies_on=("above.in_order",))
    def grow(s) -> None:
        s.top = s.top + 1


class AboveOfASteps(Above):
    """Relies on a guarantee about steps."""

    @action(relies_on=("below.grows",))
    def read(s, level: Above.Level) -> None:
        super().read(level)


class AnswerOfBelow(Reading, user=Above, owner=Below, action="read"):
    """What was seen is what was told, and the answer is what the counter shows."""

    @staticmethod
    def glue(above, below, level: Above.Level):
        return (above.seen == below.given) & (level == below.top)

    @staticmethod
    def takes(above, level):
        return level >= above.seen


class PeekOfBelow(AnswerOfBelow, user=Peeks, action="peek"):
    """Of the variant."""


class AnswerOfAnybody(AnswerOfBelow):
    """The answer has nothing to do with the counter."""

    @staticmethod
    def glue(above, below, level):
        return above.seen == below.given


class AnswerToEverything(AnswerOfBelow):
    """It follows without any guarantee."""

    @staticmethod
    def glue(above, below, level):
        return (above.seen == below.given) & (level >= above.seen) & (level == below.top)


class AnswerThatCannotBe(AnswerOfBelow):
    """Contradicts the guarantee: everything follows."""

    @staticmethod
    def glue(above, below, level):
        return (below.given > below.top) & (level <= above.seen)


class AnswerOfSomethingElse(AnswerOfBelow):
    """Shows what the step does not assume."""

    @staticmethod
    def takes(above, level):
        return level + 1 > above.seen


class AnswerToSteps(AnswerOfBelow, user=AboveOfASteps):
    """Of a guarantee about steps."""


class AnswerWithoutAction(AnswerOfBelow, action="write"):
    """The user has no such action."""


class AnswerOfNothing(AnswerOfBelow):
    """Takes for granted what is always true."""

    @staticmethod
    def takes(above, level):
        return level >= 0


class AnswerWithoutType(Reading, user=Above, owner=Below, action="read"):
    """A value whose type is not said."""

    @staticmethod
    def glue(above, below, level):
        return above.seen == below.given

    @staticmethod
    def takes(above, level):
        return level >= above.seen
