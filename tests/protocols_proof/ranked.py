"""Protocols whose liveness is proved by a ranking, and some in which the ranking does not do."""

from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Int,
    Map,
    Measure,
    Nat,
    Protocol,
    Set,
    Sort,
    TypeAlias,
    action,
    anything,
    constant,
    each,
    everywhere,
    forall,
    helpful,
    implies,
    leads_to,
    lemma,
    rank,
    removed,
    require,
)


class Mail(Protocol):
    """Letters arrive in the order in which they were sent."""

    Letter: TypeAlias = Sort
    Number: TypeAlias = Nat

    sent: Set[Letter] = everywhere(False)
    number: Map[Letter, Number] = everywhere(0)
    letter: Map[Number, Letter] = anything
    last: Number = 0
    arrived: Number = 0

    @action
    def send(s, letter: Letter) -> None:
        """A new letter is sent."""
        require(~s.sent[letter])
        s.sent[letter] = True
        s.last = s.last + 1
        s.number[letter] = s.last
        s.letter[s.last] = letter

    @action(fairness="weak")
    def deliver(s, letter: Letter) -> None:
        """The next letter arrives."""
        require(s.sent[letter] & (s.number[letter] == s.arrived + 1))
        s.arrived = s.arrived + 1

    @lemma()
    def numbers_are_given(s) -> Bool:
        """A letter that was sent has one of the numbers that were given."""
        return forall(s.Letter, lambda a: implies(s.sent[a], s.number[a] <= s.last))

    @lemma()
    def every_number_has_its_letter(s) -> Bool:
        """Each number that was given belongs to a letter."""
        return forall(
            s.Number,
            lambda n: implies((n > 0) & (n <= s.last), s.sent[s.letter[n]] & (s.number[s.letter[n]] == n)),
        )

    @leads_to()
    def letters_arrive(s, letter: Letter) -> tuple[Bool, Bool]:
        """A letter that was sent arrives."""
        return s.sent[letter], s.arrived >= s.number[letter]

    @rank("letters_arrive")
    def letters_before(s, letter: Letter) -> Measure:
        """How many letters are before it."""
        return s.number[letter] - s.arrived

    @helpful("letters_arrive", action="deliver")
    def the_next_arrives(s, letter: Letter) -> HelpfulCase:
        """There is a next one, which may be this one."""
        return s.sent[letter] & (s.arrived < s.number[letter]), (s.letter[s.arrived + 1],)


class LosesLetters(Mail):
    """The next letter may be lost for ever."""

    def deliver(s, letter: Mail.Letter) -> None:
        super().deliver(letter)
        require(s.arrived < 3)


class StandsStill(Mail):
    """The rank does not say that a step leads nearer."""

    def letters_before(s, letter: Mail.Letter) -> Mail.Number:
        return s.number[letter]


class HasNoCase(Mail):
    """What is sent first is forgotten."""

    def the_next_arrives(s, letter: Mail.Letter) -> HelpfulCase:
        when, arguments = super().the_next_arrives(letter)
        return when & (s.number[letter] > 1), arguments


class WaitsForAnother(Mail):
    """The action that helps is another one all the time."""

    def the_next_arrives(s, letter: Mail.Letter) -> HelpfulCase:
        when, _ = super().the_next_arrives(letter)
        return when, (letter,)


class Sends(Mail):
    """An unfair step is said to help."""

    @helpful("letters_arrive", action="send")
    def the_next_arrives(s, letter: Mail.Letter) -> HelpfulCase:
        """It does not."""
        return s.sent[letter], (letter,)


class CountsNumbers(Mail):
    """A measure over numbers, of which there is no end."""

    def letters_before(s, letter: Mail.Letter):
        return each(s.Number, lambda n: n > s.arrived)


class OneArgument(Mail):
    """An argument is missing."""

    def the_next_arrives(s, letter: Mail.Letter) -> HelpfulCase:
        return s.sent[letter], ()


class Bare(Mail):
    """Nothing says why letters arrive."""

    the_next_arrives = removed


class Lamps(Protocol):
    """Lamps are switched on; one promise rests on another."""

    Lamp: TypeAlias = Sort

    on: Set[Lamp] = everywhere(False)
    told: Bool = False

    @action(fairness="weak")
    def switch(s, lamp: Lamp) -> None:
        """A lamp is switched on."""
        require(~s.on[lamp])
        s.on[lamp] = True

    @action(fairness="weak")
    def tell(s) -> None:
        """All are on."""
        require(forall(s.Lamp, lambda a: s.on[a]))
        s.told = True

    @leads_to()
    def all_are_switched_on(s) -> tuple[Bool, Bool]:
        """All lamps are on at last, however many there are."""
        return True, forall(s.Lamp, lambda a: s.on[a])

    @rank("all_are_switched_on")
    def those_that_are_off(s) -> Measure:
        """The lamps that are off."""
        return each(s.Lamp, lambda a: ~s.on[a])

    @helpful("all_are_switched_on", action="switch")
    def one_is_off(s, lamp: Lamp) -> HelpfulCase:
        """It will be switched on."""
        return ~s.on[lamp], (lamp,)

    @leads_to()
    def it_is_told(s) -> tuple[Bool, Bool]:
        """It is told."""
        return True, s.told

    @rank("it_is_told")
    def whether_one_is_off(s) -> Measure:
        """First all are on."""
        return ~forall(s.Lamp, lambda a: s.on[a])

    @helpful("it_is_told", other="all_are_switched_on")
    def first_they_are_switched_on(s) -> HelpfulCase:
        """One is off."""
        return ~forall(s.Lamp, lambda a: s.on[a]), ()

    @helpful("it_is_told", action="tell")
    def then_it_is_told(s) -> HelpfulCase:
        """All are on."""
        return forall(s.Lamp, lambda a: s.on[a]), ()


class Circle(Lamps):
    """Each promise rests on the other."""

    @helpful("all_are_switched_on", other="it_is_told")
    def one_is_off(s) -> HelpfulCase:
        """Nothing is told before."""
        return ~s.told, ()


class RestsTooLong(Lamps):
    """It rests on a promise that may be kept already."""

    def first_they_are_switched_on(s) -> HelpfulCase:
        return ~s.told, ()


class Falls(Protocol):
    """A number falls for ever, and nothing comes of it."""

    Depth: TypeAlias = Int

    deep: Depth = 0
    done: Bool = False

    @action(fairness="weak")
    def fall(s) -> None:
        """It falls."""
        s.deep = s.deep - 1

    @leads_to()
    def it_ends(s) -> tuple[Bool, Bool]:
        """It does not."""
        return True, s.done

    @rank("it_ends")
    def how_deep(s) -> Measure:
        """A measure that has no least value."""
        return s.deep

    @helpful("it_ends", action="fall")
    def it_falls(s) -> HelpfulCase:
        """Always."""
        return ~s.done, ()


class Turns(Protocol):
    """Each side may finish in its turn, and the turn may change for ever."""

    left: Bool = False
    done: Bool = False

    @action
    def turn(s) -> None:
        """The other side has its turn."""
        s.left = ~s.left

    @action(fairness="weak")
    def finish(s, side: Bool) -> None:
        """A side finishes in its turn."""
        require((side == s.left) & ~s.done)
        s.done = True

    @leads_to()
    def it_ends(s) -> tuple[Bool, Bool]:
        """It need not: no side stays able to finish."""
        return True, s.done

    @rank("it_ends")
    def nothing(s) -> Measure:
        """Nothing but the end."""
        return ~s.done

    @helpful("it_ends", action="finish")
    def whose_turn_it_is(s) -> HelpfulCase:
        """The arguments change from step to step."""
        return ~s.done, (s.left,)


class Walk(Protocol):
    """A walk over a few places, of which constants say everything: what can be, and why it would end."""

    Place: TypeAlias = Sort
    Move: TypeAlias = Sort
    Number: TypeAlias = Nat

    can: Set[Move, Place] = constant()
    to: Map[Move, Place, Place] = constant()
    begins: Set[Place] = constant()
    ends: Set[Place] = constant()
    distance: Map[Place, Number] = constant()
    case: Set[Move, Place] = constant()

    at: Place = anything

    @action(fairness="weak")
    def walk(s, m: Move) -> None:
        """A move that is fair."""
        require(s.can[m, s.at])
        s.at = s.to[m, s.at]

    @action
    def stray(s, m: Move, p: Place) -> None:
        """A move that nobody promises: to any place from which it is further, or as far, to the end."""
        require(s.can[m, s.at] & s.case[m, p] & (s.distance[p] == s.distance[s.at]))
        s.at = p

    @leads_to()
    def it_ends(s) -> tuple[Bool, Bool]:
        """It comes to an end."""
        return s.begins[s.at], s.ends[s.at]

    @rank("it_ends")
    def how_far(s) -> Measure:
        """The distance."""
        return s.distance[s.at]

    @helpful("it_ends", action="walk")
    def a_move_helps(s, m: Move) -> HelpfulCase:
        """This move helps here."""
        return s.case[m, s.at], (m,)
