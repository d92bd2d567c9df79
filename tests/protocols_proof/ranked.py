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
    invariant,
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


class Lamp(Protocol, name="lamp"):
    """All workers have to be done; then the lamp is switched on. Faults undo what one has done."""

    Worker: TypeAlias = Sort
    Faults: TypeAlias = Nat

    done: Set[Worker] = everywhere(False)
    lit: Bool = False
    faults: Faults = 0

    @action(fairness="weak")
    def work(s, w: Worker) -> None:
        """One is done."""
        require(~s.done[w])
        s.done[w] = True

    @action(fairness="weak")
    def light(s) -> None:
        """All are done."""
        require(~s.lit & forall(s.Worker, lambda w: s.done[w]))
        s.lit = True

    @action
    def undo(s, w: Worker) -> None:
        """A fault: what one has done is gone."""
        require(s.done[w] & ~s.lit)
        s.done[w] = False
        s.faults = s.faults + 1

    @leads_to(source="a test")
    def it_lights(s) -> tuple[Bool, Bool]:
        """The lamp comes on."""
        return ~s.lit, s.lit

    @rank("it_lights", finitely=("faults",))
    def work_to_do(s) -> Measure:
        """Who is not done."""
        return each(s.Worker, lambda w: ~s.done[w])

    @helpful("it_lights", action="work")
    def one_works(s, w: Worker) -> HelpfulCase:
        """Someone is not done."""
        return ~s.lit & ~s.done[w], (w,)

    @helpful("it_lights", action="light")
    def all_have_worked(s) -> HelpfulCase:
        """Nobody is left."""
        return ~s.lit & forall(s.Worker, lambda w: s.done[w]), ()


class FaultsForEver(Lamp):
    """False: faults may go on for ever, and the rank does not leave them out."""

    @rank("it_lights")
    def work_to_do(s) -> Measure:
        return each(s.Worker, lambda w: ~s.done[w])


class FaultsAreNotCounted(Lamp):
    """False: the faults that matter change nothing that is said to change finitely often."""

    def undo(s, w: Lamp.Worker) -> None:
        require(s.done[w] & ~s.lit)
        s.done[w] = False


class NumbersGoDownForEver(Lamp):
    """False: a number below zero goes down for ever."""

    count: Lamp.Faults = 0

    @rank("it_lights", finitely=())
    def work_to_do(s) -> Measure:
        """It goes down with each fault."""
        return 0 - s.count, each(s.Worker, lambda w: ~s.done[w])

    def undo(s, w: Lamp.Worker) -> None:
        super().undo(w)
        s.count = s.count + 1


class RestsOnALie(Lamp):
    """False: what excludes the faults is no invariant."""

    @invariant(source="a test")
    def nobody_is_done(s) -> Bool:
        """Wrong after the first work."""
        return forall(s.Worker, lambda w: ~s.done[w])

    @rank("it_lights")
    def work_to_do(s) -> Measure:
        return each(s.Worker, lambda w: ~s.done[w])


class TwoClaims(Lamp):
    """One claim rests on the other, which is of fewer runs."""

    @leads_to(source="a test")
    def it_shines(s) -> tuple[Bool, Bool]:
        """The lamp comes on."""
        return ~s.lit, s.lit

    @rank("it_shines")
    def nothing(s) -> Measure:
        """Nothing of its own."""
        return ~s.lit

    @helpful("it_shines", other="it_lights")
    def as_it_lights(s) -> HelpfulCase:
        """The other claim says so."""
        return ~s.lit, ()
