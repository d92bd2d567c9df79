"""A lamp that has to come on: why it does, rightly and wrongly, for proofs of liveness."""

from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    Nat,
    Protocol,
    Set,
    Sort,
    TypeAlias,
    action,
    each,
    everywhere,
    forall,
    helpful,
    invariant,
    leads_to,
    rank,
    require,
)


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

    @leads_to(source="this file")
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
        """Who is not done."""
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

    @invariant(source="this file")
    def nobody_is_done(s) -> Bool:
        """Wrong after the first work."""
        return forall(s.Worker, lambda w: ~s.done[w])

    @rank("it_lights")
    def work_to_do(s) -> Measure:
        """Who is not done."""
        return each(s.Worker, lambda w: ~s.done[w])


class TwoClaims(Lamp):
    """One claim rests on the other, which is of fewer runs."""

    @leads_to(source="this file")
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
