"""A store of one value that only grows: saves under a fence, reads, and power failures.

The value may be the end of a window, a checkpoint, the version of an object, the number of records of a log.
A save is *applied* when others can see it, *forced* when it survives a power failure, and *answered* when its
caller gets the answer: in this order. In between the power may fail, and leaves any value between the forced
and the visible one. A caller that got an error, or no answer, knows nothing: the save may have been applied,
and may still be.

A save is tied to a term, and applied only while this is the term of the store's fence. Where no step raises
the fence (metadata, objects, a log: other protocols guard their owner), all saves have the one term. Options
distinguish the kinds of store: ``ATOMIC``, a save is applied and forced in one step (a transaction; a file is
renamed first, and its directory forced then); ``READS_FORCED``, a read answers with the forced value (an
object store is read by those who know that the object is there).

Sources: facts 2.4, 7.6 and 10.1; hazard 43; properties D, L and M.
"""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    TypeAlias,
    action,
    constant,
    each,
    everywhere,
    exists,
    ite,
    maximum,
    one_of,
    option,
    require,
)


class StoreActions(Protocol, name="store"):
    """One value that grows, saves and reads that overlap, a fence, power failures."""

    Save: TypeAlias = Sort
    Read: TypeAlias = Sort
    Value: TypeAlias = Nat
    Term: TypeAlias = Nat
    Stage: TypeAlias = Enum["new", "open", "answered", "refused", "failed"]
    Look: TypeAlias = Enum["new", "open", "seen", "answered", "failed"]

    ATOMIC: Bool = option(False)
    READS_FORCED: Bool = option(True)

    value: Map[Save, Value] = constant()  # what each save stores

    fence: Term = 0  # the present term, or the last one
    lapsed: Bool = False  # it has ended: its holder has resigned, or has not renewed it
    visible: Value = 0  # what a read sees
    forced: Value = 0  # what survives a power failure
    inherited: Value = 0  # history: the value when the term began

    stage: Map[Save, Stage] = everywhere("new")
    term: Map[Save, Term] = everywhere(0)  # the term that the caller takes for the present one
    applied: Set[Save] = everywhere(False)

    look: Map[Read, Look] = everywhere("new")
    least: Map[Read, Value] = everywhere(0)  # history: the value when the read began
    got: Map[Read, Value] = everywhere(0)

    # ---- helpers ----

    def is_allowed(s, w: Save) -> Bool:
        return s.term[w] == s.fence

    def may_see(s, r: Read, value: Value) -> Bool:
        """The value was there at some time since the read began."""
        return (s.least[r] <= value) & (value <= s.visible)

    def was_saved(s, value: Value) -> Bool:
        return exists(s.Save, lambda w: s.applied[w] & (s.value[w] == value))

    # ---- the fence ----

    @action(source="facts 2.4: lease")
    def lapse(s) -> None:
        """The term ends. A save of it may still be applied, until the next one begins."""
        require((s.fence > 0) & ~s.lapsed)
        s.lapsed = True

    @action(source="facts 2.4: version == 0 transaction under a lease")
    def raise_fence(s, over: Bool) -> None:
        """A new term begins: applied saves are forced, saves of an old term are no longer applied."""
        require((s.fence == 0) | s.lapsed)
        s.fence = s.fence + 1
        s.lapsed = over
        s.forced = s.visible
        s.inherited = s.visible

    # ---- saves ----

    @action(source="facts 2.4")
    def begin(s, w: Save, term: Term) -> None:
        """A caller sends a save, in a term that has begun, and may have ended."""
        require((s.stage[w] == "new") & (term <= s.fence))
        s.stage[w] = "open"
        s.term[w] = term

    @action(fairness="weak", source="facts 2.4; property M")
    def apply(s, w: Save) -> None:
        """The store takes the save: the greater value is kept. Its caller may have given it up."""
        require(one_of(s.stage[w], "open", "failed") & ~s.applied[w] & s.is_allowed(w))
        s.applied[w] = True
        s.visible = maximum(s.visible, s.value[w])
        s.forced = ite(s.ATOMIC, s.visible, s.forced)

    @action(fairness="weak", source="property D")
    def force(s) -> None:
        """The visible value is forced to the disk."""
        require(s.forced < s.visible)
        s.forced = s.visible

    @action(fairness="weak", source="property D")
    def answer(s, w: Save) -> None:
        """The caller gets the answer: its save is durable."""
        require((s.stage[w] == "open") & s.applied[w] & (s.value[w] <= s.forced))
        s.stage[w] = "answered"

    @action(fairness="weak", source="hazard 43")
    def refuse(s, w: Save) -> None:
        """The caller gets the answer: its term has ended."""
        require((s.stage[w] == "open") & ~s.applied[w] & (s.lapsed | ~s.is_allowed(w)))
        s.stage[w] = "refused"

    @action(source="facts 2.2: saveTimestamp fails")
    def fail(s, w: Save) -> None:
        """The caller gets an error, or gives up."""
        require(s.stage[w] == "open")
        s.stage[w] = "failed"

    # ---- reads ----

    @action(source="property L")
    def begin_read(s, r: Read) -> None:
        """A caller asks for the value."""
        require(s.look[r] == "new")
        s.look[r] = "open"
        s.least[r] = s.visible

    @action(fairness="weak", source="property L")
    def see(s, r: Read, value: Value) -> None:
        """The read has seen the value, now or since it began."""
        require((s.look[r] == "open") & s.may_see(r, value))
        s.look[r] = "seen"
        s.got[r] = value

    @action(fairness="weak", source="property L; property D")
    def answer_read(s, r: Read) -> None:
        """The caller gets the value."""
        require((s.look[r] == "seen") & (~s.READS_FORCED | (s.got[r] <= s.forced)))
        s.look[r] = "answered"

    @action(source="facts 2.1: load error")
    def fail_read(s, r: Read) -> None:
        """The caller gets an error, which is not the same as no value (B1)."""
        require(one_of(s.look[r], "open", "seen"))
        s.look[r] = "failed"
        s.got[r] = 0

    # ---- the power fails ----

    @action(source="property D")
    def crash(s, left: Value) -> None:
        """Values that were not forced may be lost. Callers on the machine end; saves under way may arrive."""
        require((s.forced <= left) & (left <= s.visible))
        require((left == s.forced) | s.was_saved(left))
        s.visible = left
        s.forced = left
        s.stage = each(s.Save, lambda w: ite(s.stage[w] == "open", "failed", s.stage[w]))
        s.applied = each(s.Save, lambda w: s.applied[w] & (s.value[w] <= left))
        s.got = each(s.Read, lambda r: ite(s.look[r] == "answered", s.got[r], 0))
        s.look = each(s.Read, lambda r: ite(one_of(s.look[r], "open", "seen"), "failed", s.look[r]))
