"""Claims about garbage: which files stay, and which are deleted; witnesses."""

from tidemark.spec.garbage.actions import GarbageActions
from tidemark.spec.language import Bool, Self, all_of, exists, forall, implies, invariant, leads_to, reachable


class GarbageClaims(GarbageActions):
    """One channel's name: files, records, terms, drop and creation, readers, a collector."""

    # ---- safety ----

    @invariant(source="facts 7.6, 10.2; property S")
    def named_files_are_there(s) -> Bool:
        """Each file that a record of a living collection names is in the store."""
        return forall(s.File, lambda f: implies((s.entry[f] == "named") & ~s.is_over(f), s.stored[f]))

    @invariant(source="facts 7.6, 10.2; property S")
    def files_under_way_are_there(s) -> Bool:
        """A file of the present term stays in the store once it was written: a save may still name it."""
        return forall(
            s.File,
            lambda f: implies(
                all_of(s.life == "living", s.written[f], s.term_of[f] == s.term),
                s.stored[f],
            ),
        )

    @invariant(source="facts 10.4; property R")
    def files_that_are_read_are_there(s) -> Bool:
        """Each file that a reader was given is in the store until it lets go."""
        return forall(s.Reader, s.File, lambda r, f: implies(s.reading[r, f], s.stored[f]))

    @invariant(source="facts 10.1; hazard 14")
    def no_record_outlives_its_collection(s) -> Bool:
        """Once the channel of a dropped collection is forgotten, no record names a file of it."""
        return forall(s.File, lambda f: implies(s.is_over(f) & (s.life != "dropped"), s.entry[f] == "none"))

    # ---- liveness ----

    @leads_to(source="facts 7.9; hazard 14; B30")
    def files_of_a_dropped_collection_go(s, f: GarbageActions.File) -> tuple[Bool, Bool]:
        """Each file of a dropped collection is deleted in the end: also one that was written late."""
        return s.stored[f] & s.is_over(f), ~s.stored[f]

    @leads_to(source="facts 7.6")
    def files_without_a_record_go(s, f: GarbageActions.File) -> tuple[Bool, Bool]:
        """Each file of an earlier term that no record names is deleted in the end."""
        return all_of(s.stored[f], s.term_of[f] < s.term, s.entry[f] != "named"), ~s.stored[f]

    # ---- witnesses ----

    @reachable(after="delete", source="facts 7.6")
    def a_file_without_a_record_goes(before, after: Self, f: GarbageActions.File) -> Bool:
        """The file of a refused save is deleted before the collection is dropped."""
        return (before.life == "living") & ~before.is_over(f)

    @reachable(after="delete", source="hazard 14")
    def an_old_file_goes_beside_a_new_collection(before, after: Self, f: GarbageActions.File) -> Bool:
        """A file of the dropped collection is deleted when the next one of its name exists and has a file."""
        return all_of(
            before.is_over(f),
            before.life == "living",
            exists(after.File, lambda g: (after.entry[g] == "named") & ~after.is_over(g)),
        )

    @reachable(after="write", source="facts 7.6; hazard 22")
    def a_file_comes_too_late(before, after: Self, f: GarbageActions.File) -> Bool:
        """A node writes a file when the records of its collection have been removed."""
        return after.is_over(f) & (after.life != "dropped")

    @reachable(after="end_read", source="facts 10.4")
    def a_reader_outlives_the_drop(
        before, after: Self, r: GarbageActions.Reader, f: GarbageActions.File
    ) -> Bool:
        """The last reader of a file of a dropped collection lets go."""
        return before.is_over(f) & forall(after.Reader, lambda q: ~after.reading[q, f])
