"""Why garbage is deleted, for any number of files: measures, and the actions that lower them.

Both claims are of runs in which the collector crashes finitely often: one that always crashes between
decision and deletion deletes no file.
"""

from tidemark.spec.garbage.claims import GarbageClaims
from tidemark.spec.language import all_of, each, helpful, rank


class GarbageRanking(GarbageClaims):
    """One channel's name: files, records, terms, drop and creation, readers, a collector."""

    # ---- files of a dropped collection ----

    def is_left_over(s, f):
        return s.stored[f] & s.is_over(f)

    @rank("files_of_a_dropped_collection_go", finitely=("faults",))
    def what_its_end_waits_for(s, f: GarbageClaims.File):
        """Its readers, of which there are no new ones; then the collector's decision."""
        return each(s.Reader, lambda r: s.reading[r, f]), ~s.marked[f]

    @helpful("files_of_a_dropped_collection_go", action="end_read")
    def a_reader_lets_go(s, f: GarbageClaims.File, r: GarbageClaims.Reader):
        return s.is_left_over(f) & s.reading[r, f], (r, f)

    @helpful("files_of_a_dropped_collection_go", action="mark")
    def its_end_is_decided(s, f: GarbageClaims.File):
        return all_of(s.is_left_over(f), s.is_free(f), ~s.marked[f]), (f,)

    @helpful("files_of_a_dropped_collection_go", action="delete")
    def it_is_deleted(s, f: GarbageClaims.File):
        return s.is_left_over(f) & s.marked[f], (f,)

    # ---- files without a record ----

    def is_not_named(s, f):
        return all_of(s.stored[f], s.term_of[f] < s.term, s.entry[f] != "named")

    @rank("files_without_a_record_go", finitely=("faults",))
    def what_the_end_of_a_file_waits_for(s, f: GarbageClaims.File):
        """Its readers, of which there are no new ones; then the collector's decision."""
        return each(s.Reader, lambda r: s.reading[r, f]), ~s.marked[f]

    @helpful("files_without_a_record_go", action="end_read")
    def one_who_reads_lets_go(s, f: GarbageClaims.File, r: GarbageClaims.Reader):
        return s.is_not_named(f) & s.reading[r, f], (r, f)

    @helpful("files_without_a_record_go", action="mark")
    def the_end_is_decided(s, f: GarbageClaims.File):
        return all_of(s.is_not_named(f), s.is_free(f), ~s.marked[f]), (f,)

    @helpful("files_without_a_record_go", action="delete")
    def the_file_is_deleted(s, f: GarbageClaims.File):
        return s.is_not_named(f) & s.marked[f], (f,)
