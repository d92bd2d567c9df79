"""Lemmas and ranks: why a file that was decided to be garbage stays garbage, however late it is deleted.

Both liveness claims are of runs in which the collector crashes finitely often: one that always crashes
between decision and deletion deletes no file.
"""

from tidemark.spec.garbage.claims import GarbageClaims
from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    all_of,
    any_of,
    each,
    forall,
    helpful,
    implies,
    lemma,
    rank,
)


class Garbage(GarbageClaims):
    """One channel's name: files, records, terms, drop and creation, readers, a collector."""

    # ---- files of a dropped collection ----

    def is_left_over(s, f: GarbageClaims.File) -> Bool:
        return s.stored[f] & s.is_over(f)

    @rank("files_of_a_dropped_collection_go", finitely=("faults",))
    def what_its_end_waits_for(s, f: GarbageClaims.File) -> Measure:
        """Its readers, of which there are no new ones; then the collector's decision."""
        return each(s.Reader, lambda r: s.reading[r, f]), ~s.marked[f]

    @helpful("files_of_a_dropped_collection_go", action="end_read")
    def a_reader_lets_go(s, f: GarbageClaims.File, r: GarbageClaims.Reader) -> HelpfulCase:
        return s.is_left_over(f) & s.reading[r, f], (r, f)

    @helpful("files_of_a_dropped_collection_go", action="mark")
    def its_end_is_decided(s, f: GarbageClaims.File) -> HelpfulCase:
        return all_of(s.is_left_over(f), s.is_free(f), ~s.marked[f]), (f,)

    @helpful("files_of_a_dropped_collection_go", action="delete")
    def it_is_deleted(s, f: GarbageClaims.File) -> HelpfulCase:
        return s.is_left_over(f) & s.marked[f], (f,)

    # ---- files without a record ----

    def is_not_named(s, f: GarbageClaims.File) -> Bool:
        return all_of(s.stored[f], s.term_of[f] < s.term, s.entry[f] != "named")

    @rank("files_without_a_record_go", finitely=("faults",))
    def what_the_end_of_a_file_waits_for(s, f: GarbageClaims.File) -> Measure:
        """Its readers, of which there are no new ones; then the collector's decision."""
        return each(s.Reader, lambda r: s.reading[r, f]), ~s.marked[f]

    @helpful("files_without_a_record_go", action="end_read")
    def one_who_reads_lets_go(s, f: GarbageClaims.File, r: GarbageClaims.Reader) -> HelpfulCase:
        return s.is_not_named(f) & s.reading[r, f], (r, f)

    @helpful("files_without_a_record_go", action="mark")
    def the_end_is_decided(s, f: GarbageClaims.File) -> HelpfulCase:
        return all_of(s.is_not_named(f), s.is_free(f), ~s.marked[f]), (f,)

    @helpful("files_without_a_record_go", action="delete")
    def the_file_is_deleted(s, f: GarbageClaims.File) -> HelpfulCase:
        return s.is_not_named(f) & s.marked[f], (f,)

    @lemma(source="facts 10.2")
    def terms_count_on(s) -> Bool:
        """A living collection has begun its terms, the next one has not; no file is of a term to come."""
        return all_of(
            implies(s.life == "living", s.first <= s.term),
            implies(s.life != "living", s.first == s.term + 1),
            forall(s.File, lambda f: implies(s.written[f], s.term_of[f] <= s.term)),
            forall(s.File, lambda f: implies(s.stored[f] | (s.entry[f] != "none"), s.written[f])),
        )

    @lemma(source="facts 7.6, 10.2")
    def garbage_stays_garbage(s) -> Bool:
        """No living collection names or will name a file that is to be deleted, and no reader has it."""
        return forall(
            s.File,
            lambda f: implies(
                s.marked[f],
                any_of(s.is_over(f), (s.term_of[f] < s.term) & (s.entry[f] != "named"))
                & forall(s.Reader, lambda r: ~s.reading[r, f]),
            ),
        )
