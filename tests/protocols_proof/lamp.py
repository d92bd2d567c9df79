"""A lamp that has to come on: why it does, rightly and wrongly, for proofs of liveness."""

from tidemark.spec.language import (
    Bool,
    Nat,
    Protocol,
    Set,
    Sort,
    action,
    each,
    forall,
    helpful,
    invariant,
    leads_to,
    rank,
    require,
)


class Lamp(Protocol, name="lamp"):
    """All workers have to be done; then the lamp is switched on. Faults undo what one has done."""

    Worker = Sort()
    Faults = Nat()

    done: Set[Worker] = False
    lit: Bool = False
    faults: Faults = 0

    @action(fairness="weak")
    def work(s, w: Worker):
        """One is done."""
        require(~s.done[w])
        s.done[w] = True

    @action(fairness="weak")
    def light(s):
        """All are done."""
        require(~s.lit & forall(s.Worker, lambda w: s.done[w]))
        s.lit = True

    @action
    def undo(s, w: Worker):
        """A fault: what one has done is gone."""
        require(s.done[w] & ~s.lit)
        s.done[w] = False
        s.faults = s.faults + 1

    @leads_to(source="this file")
    def it_lights(s):
        """The lamp comes on."""
        return ~s.lit, s.lit

    @rank("it_lights", finitely=("faults",))
    def work_to_do(s):
        """Who is not done."""
        return each(s.Worker, lambda w: ~s.done[w])

    @helpful("it_lights", action="work")
    def one_works(s, w: Worker):
        """Someone is not done."""
        return ~s.lit & ~s.done[w], (w,)

    @helpful("it_lights", action="light")
    def all_have_worked(s):
        """Nobody is left."""
        return ~s.lit & forall(s.Worker, lambda w: s.done[w]), ()


class FaultsForEver(Lamp):
    """False: faults may go on for ever, and the rank does not leave them out."""

    @rank("it_lights")
    def work_to_do(s):
        """Who is not done."""
        return each(s.Worker, lambda w: ~s.done[w])


class FaultsAreNotCounted(Lamp):
    """False: the faults that matter change nothing that is said to change finitely often."""

    def undo(s, w):
        require(s.done[w] & ~s.lit)
        s.done[w] = False


class SomeCaseIsMissing(Lamp):
    """Not shown: nobody helps where all are done."""

    all_have_worked = None


class WorkChangesNothing(Lamp):
    """False: a worker begins, and is never done."""

    begun: Set[Lamp.Worker] = False

    def work(s, w):
        require(~s.done[w])
        s.begun[w] = True


class NumbersGoDownForEver(Lamp):
    """False: a number below zero goes down for ever."""

    count: Lamp.Faults = 0

    @rank("it_lights", finitely=())
    def work_to_do(s):
        """It goes down with each fault."""
        return 0 - s.count, each(s.Worker, lambda w: ~s.done[w])

    def undo(s, w):
        super().undo(w)
        s.count = s.count + 1


class RestsOnALie(Lamp):
    """False: what excludes the faults is no invariant."""

    @invariant(source="this file")
    def nobody_is_done(s):
        """Wrong after the first work."""
        return forall(s.Worker, lambda w: ~s.done[w])

    @rank("it_lights")
    def work_to_do(s):
        """Who is not done."""
        return each(s.Worker, lambda w: ~s.done[w])


class TwoClaims(Lamp):
    """One claim rests on the other, which is of fewer runs; or each on the other."""

    @leads_to(source="this file")
    def it_shines(s):
        """The lamp comes on."""
        return ~s.lit, s.lit

    @rank("it_shines")
    def nothing(s):
        """Nothing of its own."""
        return ~s.lit

    @helpful("it_shines", other="it_lights")
    def as_it_lights(s):
        """The other claim says so."""
        return ~s.lit, ()


class Circle(TwoClaims):
    """Each claim rests on the other."""

    one_works = None
    all_have_worked = None

    @rank("it_lights")
    def work_to_do(s):
        """Nothing of its own."""
        return ~s.lit

    @helpful("it_lights", other="it_shines")
    def as_it_shines(s):
        """The other claim says so."""
        return ~s.lit, ()
