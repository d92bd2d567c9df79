"""Named mutants of the specification, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import Bool, one_of, require
from tidemark.spec.store import Store


@mutant(killer="store.what_was_answered_is_durable", source="property D", instance="store-small")
class AnsweredBeforeForced(Store):
    """A save is answered once it can be seen."""

    def answer(s, w: Store.Save) -> None:
        require((s.stage[w] == "open") & s.applied[w])
        s.stage[w] = "answered"


@mutant(killer="store.what_was_answered_is_durable", source="property M", instance="store-small")
class PlainPut(Store):
    """The store keeps what comes last, not the greatest."""

    def apply(s, w: Store.Save) -> None:
        require(one_of(s.stage[w], "open", "failed") & ~s.applied[w] & s.is_allowed(w))
        s.applied[w] = True
        s.visible = s.value[w]


@mutant(killer="store.only_the_present_term_adds", source="H43", instance="store-small")
class FenceIgnored(Store):
    """The store takes the saves of any term."""

    def is_allowed(s, w: Store.Save) -> Bool:
        return s.term[w] <= s.fence


@mutant(killer="store.what_was_refused_has_no_effect", source="H43", instance="store-small")
class RefusedAndApplied(Store):
    """A save is refused though it was applied."""

    def refuse(s, w: Store.Save) -> None:
        require((s.stage[w] == "open") & s.lapsed)
        s.stage[w] = "refused"


@mutant(killer="store.what_was_read_is_durable", source="property L, property D", instance="store-small")
class ReadsAhead(Store):
    """A read answers with what may vanish."""

    def answer_read(s, r: Store.Read) -> None:
        require(s.look[r] == "seen")
        s.look[r] = "answered"


@mutant(killer="store.a_read_sees_what_was_answered_before", source="property L", instance="store-small")
class StaleRead(Store):
    """A read may see what was there before it began."""

    def may_see(s, r: Store.Read, value: Store.Value) -> Bool:
        return value <= s.visible
