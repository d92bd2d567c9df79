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
