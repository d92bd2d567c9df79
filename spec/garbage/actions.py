"""Deletion of object files that no record names: the steps.

A data node writes a file first, and has it recorded afterwards. The coordinator records only files of the
present term of the channel's owner, and a file carries the term of its writer in its name. A collector lists
the files, decides for each whether it is garbage, and deletes it later. Garbage is a file that no record
names or can name any more: one of an earlier term without a record. When the owner has dropped the channel of
a dropped collection, after the last message that may belong to it, all its files are garbage once no reader
has them. Its records may go before or after its files. A collection of the same name may be created again.

Sources: facts 7.6, 7.9, 10.2; hazard 14; B30, B31.

How it is cut:

- One name of a channel. Its terms count on when a collection of the same name is created (``ownership``).
- ``ownership`` shows that the owner drops the channel after the last message, when all is recorded.
- A file is written as a whole. A node of an earlier term may write its files at any time, and again: it need
  not know that it was replaced. Its saves are refused.
- A reader gets a file by its record, and keeps it until it lets go: a reader of a dropped collection does so
  when its own position has passed the drop.
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
    all_of,
    any_of,
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    ite,
    option,
    require,
)


class GarbageActions(Protocol, name="garbage"):
    """One channel's name: files, records, terms, drop and creation, readers, a collector."""

    File: TypeAlias = Sort
    Reader: TypeAlias = Sort
    Term: TypeAlias = Nat
    Faults: TypeAlias = Nat
    Life: TypeAlias = Enum["living", "dropped", "gone"]
    Entry: TypeAlias = Enum["none", "named", "replaced"]

    CHECKS_TERM: Bool = option(True)  # a file of the present term may be named yet
    WAITS_FOR_READERS: Bool = option(True)  # files with readers are kept
    LISTS_GONE: Bool = option(True)  # files are also looked for where the records are gone
    FILES_FIRST: Bool = option(False)  # the records of a dropped collection wait for its files

    term_of: Map[File, Term] = constant()

    # The store, and who uses it.
    stored: Set[File] = everywhere(False)
    written: Set[File] = everywhere(False)  # it was written once: a save may arrive that names it
    reading: Set[Reader, File] = everywhere(False)

    # The coordinator's records.
    life: Life = "living"
    term: Term = 0
    first: Term = 0  # the first term of the present collection, or of the next one
    entry: Map[File, Entry] = everywhere("none")
    faults: Faults = 0

    # The collector.
    marked: Set[File] = everywhere(False)  # to be deleted, as was decided

    # ---- helpers ----

    def is_over(s, f: File) -> Bool:
        """The file is of a dropped collection."""
        return s.term_of[f] < s.first

    def is_free(s, f: File) -> Bool:
        return ~s.WAITS_FOR_READERS | forall(s.Reader, lambda r: ~s.reading[r, f])

    def is_garbage(s, f: File) -> Bool:
        """No record names the file, and none can name it any more."""
        passed = ~s.CHECKS_TERM | (s.term_of[f] < s.term)
        return s.is_free(f) & (s.is_over(f) | (passed & (s.entry[f] != "named")))

    def may_forget(s) -> Bool:
        """The records of a dropped collection may be removed."""
        no_files = forall(s.File, lambda f: implies(s.is_over(f), ~s.stored[f]))
        return (s.life == "dropped") & (~s.FILES_FIRST | no_files)

    # ---- files and records ----

    @action(source="facts 7.6")
    def write(s, f: File) -> None:
        """A node writes a file: also one that is not the owner, and also again."""
        require(~s.stored[f] & (s.term_of[f] <= s.term))
        s.stored[f] = True
        s.written[f] = True

    @action(source="facts 7.6, 10.2")
    def record(s, f: File) -> None:
        """The save that names the file is taken: it comes from the present term."""
        require(all_of(s.written[f], s.entry[f] == "none"))
        require(all_of(s.life == "living", s.term_of[f] == s.term))
        s.entry[f] = "named"

    @action(source="facts 10.2, 10.4")
    def replace(s, f: File) -> None:
        """A compaction replaces the file by another, or its segment is dropped."""
        require((s.life == "living") & (s.entry[f] == "named") & ~s.is_over(f))
        s.entry[f] = "replaced"

    @action(source="facts 10.4")
    def take(s) -> None:
        """A node takes the channel up, in a new term."""
        require(s.life == "living")
        s.term = s.term + 1

    @action(source="facts 7.9")
    def drop(s) -> None:
        """The owner has read the drop, and all is recorded: the channel is dropped."""
        require(s.life == "living")
        s.life = "dropped"
        s.first = s.term + 1

    @action(source="facts 10.1; B31")
    def forget_files(s) -> None:
        """The records of the files of a dropped collection are removed, before that of its channel."""
        require(s.may_forget() & exists(s.File, lambda f: s.is_over(f) & (s.entry[f] != "none")))
        s.entry = each(s.File, lambda f: ite(s.is_over(f), "none", s.entry[f]))

    @action(source="facts 10.1; B31")
    def forget(s) -> None:
        """The record of the channel of a dropped collection is removed."""
        require(s.may_forget() & forall(s.File, lambda f: implies(s.is_over(f), s.entry[f] == "none")))
        s.life = "gone"

    @action(source="facts 10.1; hazard 14")
    def create(s) -> None:
        """A collection of the same name is created: its terms follow those of the last one."""
        require(s.life == "gone")
        s.life = "living"
        s.term = s.term + 1

    # ---- readers ----

    @action(source="facts 10.4")
    def begin_read(s, r: Reader, f: File) -> None:
        """A reader gets a file from the records of a living collection."""
        require((s.life == "living") & (s.entry[f] == "named") & ~s.is_over(f))
        s.reading[r, f] = True

    @action(fairness="weak", source="facts 10.4")
    def end_read(s, r: Reader, f: File) -> None:
        """It lets go: it has read the file, or its position has passed the drop."""
        require(s.reading[r, f])
        s.reading[r, f] = False

    # ---- the collector ----

    @action(fairness="weak", source="facts 7.6, 10.2")
    def mark(s, f: File) -> None:
        """The collector has listed the file, and decides that it is garbage."""
        require(all_of(s.stored[f], ~s.marked[f], s.is_garbage(f)))
        require(any_of(s.LISTS_GONE, s.life == "dropped", ~s.is_over(f)))
        s.marked[f] = True

    @action(fairness="weak", source="facts 7.6, 10.2")
    def delete(s, f: File) -> None:
        """The collector deletes a file by its decision, however late."""
        require(s.marked[f])
        s.marked[f] = False
        s.stored[f] = False

    @action(source="facts 10.1")
    def restart(s) -> None:
        """The collector crashes and forgets its decisions."""
        require(exists(s.File, lambda f: s.marked[f]))
        s.marked = each(s.File, lambda f: False)
        s.faults = s.faults + 1
