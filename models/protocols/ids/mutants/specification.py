"""Named mutants of ids in batches, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.ids import Ids
from tidemark.spec.language import Bool, all_of, require

TINY = "ids-tiny"
TWO = "ids-two-proxies"


@mutant(killer="ids.ids_are_unique", source="seed 004, 6.0", instance=TWO)
class GivesOneTooMany(Ids):
    """The end of a batch is taken for its last id."""

    def give(s, b: Ids.Batch, r: Ids.Row, last: Ids.Key) -> None:
        require(all_of(s.stage[b] == "held", ~s.has[r], s.next[b] <= last, last <= s.highest[b] + 1))
        s.has[r] = True
        s.id[r] = s.next[b]
        s.last[r] = last
        s.uses[r, b] = True
        s.next[b] = last + 1


@mutant(killer="ids.ids_are_unique", source="seed 004, 6.0", instance=TINY)
class WindowIsNotSaved(Ids):
    """A coordinator that restarts begins anew: its answers have been given before."""

    def is_new(s, b: Ids.Batch, first: Ids.Key, last: Ids.Key) -> Bool:
        return first <= last
