"""Named mutants of the collection of garbage, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.garbage import Garbage
from tidemark.spec.language import Bool, all_of, each, require

SMALL = "garbage-small"
TINY = "garbage-tiny"


@mutant(killer="garbage.files_under_way_are_there", source="facts 7.6, 10.2", instance=TINY)
class DeletesBeforeTheRecord(Garbage):
    """A file that no record names is deleted when it is seen: its record may be under way."""

    def is_garbage(s, f: Garbage.File) -> Bool:
        return s.is_free(f) & (s.is_over(f) | (s.entry[f] != "named"))


@mutant(killer="garbage.named_files_are_there", source="hazard 14; B31", instance=SMALL)
class DeletesTheFolder(Garbage):
    """The folder of a dropped collection is to be deleted, whatever is in it by then."""

    def mark(s, f: Garbage.File) -> None:
        require(all_of(s.life != "living", ~s.marked[f], s.is_free(f)))
        s.marked[f] = True


@mutant(killer="garbage.named_files_are_there", source="hazard 14; B31", instance=SMALL)
class TermsBeginAgain(Garbage):
    """A collection of the same name has the files of its predecessor's last term as its own."""

    def create(s) -> None:
        require(s.life == "gone")
        s.life = "living"
        s.first = s.term


@mutant(killer="garbage.files_without_a_record_go", source="facts 7.6", instance=SMALL)
class CollectsDroppedOnesAlone(Garbage):
    """Files are deleted of dropped collections alone: those of refused saves stay."""

    def is_garbage(s, f: Garbage.File) -> Bool:
        return s.is_free(f) & s.is_over(f)


@mutant(killer="garbage.files_that_are_read_are_there", source="facts 10.4", instance=TINY)
class DropEndsReading(Garbage):
    """Files of a dropped collection are deleted under those who read them."""

    def is_free(s, f: Garbage.File) -> Bool:
        return s.is_over(f) | super().is_free(f)


@mutant(killer="garbage.files_of_a_dropped_collection_go", source="facts 10.1", instance=TINY)
class ForgetsWhatItHasSeen(Garbage):
    """A collector that has crashed does not look again at what it had decided."""

    def restart(s) -> None:
        marked = s.marked
        super().restart()
        s.written = each(s.File, lambda f: s.written[f] & ~marked[f])

    def mark(s, f: Garbage.File) -> None:
        require(s.written[f])
        super().mark(f)
