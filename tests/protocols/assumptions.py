"""A protocol whose liveness claim and proof need what they assume, and a variant that assumes too much."""

from tidemark.spec.language import Bool, Protocol, action, implies, invariant, leads_to, lemma, require


class Errand(Protocol, name="errand"):
    """It is asked for, done, and then told."""

    asked: Bool = False
    done: Bool = False
    told: Bool = False

    @action
    def ask(s):
        """Ask for it."""
        require(~s.asked)
        s.asked = True

    @action(fairness="weak")
    def work(s):
        """Do it."""
        require(s.asked & ~s.done)
        s.done = True

    @action
    def tell(s):
        """Say that it is done."""
        require(s.done & ~s.told)
        s.told = True

    @invariant()
    def told_is_asked(s):
        """Nothing is told that was not asked for."""
        return implies(s.told, s.asked)

    @lemma()
    def done_is_asked(s):
        """Nothing is done that was not asked for."""
        return implies(s.done, s.asked)

    @leads_to()
    def it_ends(s):
        """What is asked for is done."""
        return s.asked, s.done


class TooMuch(Errand):
    """The same, with a hypothesis, a fairness and a lemma that nothing needs."""

    @action(fairness="weak")
    def tell(s):
        """Say that it is done."""
        require(s.done & ~s.told)
        s.told = True

    @lemma()
    def told_is_done(s):
        """Nothing is told that was not done."""
        return implies(s.told, s.done)

    @leads_to(without=("ask",))
    def it_ends(s):
        """What is asked for, and not told, is done."""
        return s.asked & ~s.told, s.done
