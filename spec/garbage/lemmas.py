"""Inductive lemmas: why a file that was decided to be garbage stays garbage, however late it is deleted."""

from tidemark.spec.garbage.ranking import GarbageRanking
from tidemark.spec.language import all_of, any_of, forall, implies, lemma


class Garbage(GarbageRanking):
    """One channel's name: files, records, terms, drop and creation, readers, a collector."""

    @lemma(source="facts 10.2")
    def terms_count_on(s):
        """A living collection has begun its terms, the next one has not; no file is of a term to come."""
        return all_of(
            implies(s.life == "living", s.first <= s.term),
            implies(s.life != "living", s.first == s.term + 1),
            forall(s.File, lambda f: implies(s.written[f], s.term_of[f] <= s.term)),
            forall(s.File, lambda f: implies(s.stored[f] | (s.entry[f] != "none"), s.written[f])),
        )

    @lemma(source="facts 7.6, 10.2")
    def garbage_stays_garbage(s):
        """No living collection names or will name a file that is to be deleted, and no reader has it."""
        return forall(
            s.File,
            lambda f: implies(
                s.marked[f],
                any_of(s.is_over(f), (s.term_of[f] < s.term) & (s.entry[f] != "named"))
                & forall(s.Reader, lambda r: ~s.reading[r, f]),
            ),
        )
