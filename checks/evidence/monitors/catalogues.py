"""What stands in the store at the end of the evidence: do the coordinators and streaming nodes agree?

The root coordinator keeps the collections and their channels, the data coordinator a mark, a checkpoint and
the segments of each channel, a streaming node the channels that it recovers with their log. Nothing in Milvus
compares the three. What one changes, the others follow with a delay; so a disagreement counts if it is older
than ``LAG_BOUND`` by the greatest timestamp of the store itself.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, NamedTuple

from tidemark.checks.evidence.monitors.base import DUMP, Answer, Monitor, Place
from tidemark.checks.evidence.monitors.checkpoints import LAG_BOUND
from tidemark.checks.evidence.monitors.ticks import physical_channel
from tidemark.checks.evidence.table.schema import LARGEST, physical

_COLLECTION = re.compile(r"_(\d+)v\d+$")


class Entry(NamedTuple):
    """The last change of a key."""

    source: str
    line: int
    kind: str
    channel: str | None
    ts: int
    seq: int | None
    text: str | None
    value: str | None
    clock: int
    """The greatest timestamp in the store before the change; 0 if unknown, as always in a dump."""


class StandingStore(Monitor):
    """A monitor of the last value of each key. Of several dumps the last one counts."""

    columns = ("source", "line", "kind", "key", "channel", "ts", "seq", "text", "value")
    needs: ClassVar[tuple[str, ...]] = ()
    excused_by = ("etcd.other",)
    of_state = True
    also: ClassVar[tuple[str, ...]] = ("etcd.other", "etcd.window", DUMP)

    def __init__(self) -> None:
        super().__init__()
        self.last: dict[str, dict[str, tuple[Any, ...]]] = {}
        """Source -> key -> its last change."""
        self.dumps: dict[str, tuple[int, int]] = {}
        """Source of a dump -> its revision, and the greatest timestamp up to it."""
        self.clock = 0

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, key, channel, ts, seq, text, value in rows:
            if kind == DUMP:
                self.dumps[source] = (line, self.clock)
                continue
            if kind in ("etcd.window", "etcd.consumed", "etcd.checkpoint") and ts < LARGEST:
                self.clock = max(self.clock, ts)
            if kind != "etcd.window" and (kind != "etcd.other" or text == "delete"):
                known = self.last.setdefault(source, {})
                known[key] = Entry(source, line, kind, channel, ts or 0, seq, text, value, self.clock)

    def close(self) -> Answer:
        """Judges what stands; the memory stays as it is."""
        self.answer = Answer(self.name, self.property_id)
        standing = self._standing()
        mine = {key: one for key, one in standing.items() if one.kind in self.kinds and one.text != "delete"}
        if mine:
            self.judge({k: one for k, one in mine.items() if one.kind not in self.also}, standing)
        return self.answer

    def judge(self, stands: dict[str, Entry], history: dict[str, Entry]) -> None:
        """Look at the keys that stand; ``history`` has those that were removed too."""
        raise NotImplementedError

    def _standing(self) -> dict[str, Entry]:
        histories = [source for source in self.last if source not in self.dumps]
        latest = max(self.dumps, key=lambda source: (*self.dumps[source], source), default="")
        found: dict[str, Entry] = {}
        for source in histories:
            for key, one in self.last[source].items():
                if key not in found or one[1] >= found[key].line:
                    found[key] = Entry(*one)
        if latest and self.dumps[latest][0] >= max((one.line for one in found.values()), default=0):
            return {key: Entry(*one)._replace(clock=0) for key, one in self.last.get(latest, {}).items()}
        return found

    def old(self, since: int, now: int = 0) -> bool:
        """Is this longer ago than what one catalogue may lag behind another?"""
        return bool(since) and physical(now or self.clock) - physical(since) > LAG_BOUND * 1000

    def ago(self, since: int) -> str:
        """How long ago, in words."""
        return f"{(physical(self.clock) - physical(since)) / 1000:,.0f} s"


def _channels(stands: dict[str, Entry]) -> Iterator[tuple[str, Entry]]:
    """The channels of the collections that are created, each with its collection."""
    for one in stands.values():
        if one.kind == "etcd.collection" and one.text == "Created":
            yield from ((str(channel), one) for channel in json.loads(one.value or "[]"))


_DROPPED = ("Dropped", "DROPPED")
_NO_COLLECTIONS = (
    "the root coordinator's collections (`root-coord/.../collection-info/`) are not in the store"
)


class MarkedChannels(StandingStore):
    """Root coordinator and data coordinator."""

    name = "store-channels"
    property_id = "catalogue.the_data_coordinator_knows_each_channel"
    rule = (
        "Each channel of a created collection has a mark of the data coordinator, which does not say removed."
    )
    kinds = ("etcd.collection", "etcd.mark", "etcd.checkpoint", *StandingStore.also)
    needs = ("etcd.mark",)

    def judge(self, stands: dict[str, Entry], history: dict[str, Entry]) -> None:
        """Each channel against its mark."""
        marks = {one.channel: one for one in stands.values() if one.kind == "etcd.mark"}
        gone = {_last(key): one for key, one in history.items() if one.text == "delete"}
        if not any(one.kind == "etcd.collection" for one in history.values()):
            self.answer.events = len(marks)
            self.answer.doubt(_NO_COLLECTIONS)
        for channel, created in _channels(stands):
            mark = marks.get(channel)
            self.answer.events += 1
            if mark is not None and mark.text != "removed":
                continue
            since = max(created.ts, created.clock, mark.clock if mark else 0)
            if channel in gone:
                since = max(since, gone[channel].clock)
            if self.old(since):
                what = "has marked as removed" if mark else "does not know"
                places = [Place(one.source, one.line, one.text or "") for one in (mark,) if one]
                self.answer.breach(
                    f"The data coordinator {what} {channel}, whose collection was created "
                    f"{self.ago(created.ts)} ago.",
                    *places,
                    Place(created.source, created.line, f"a collection with {channel}"),
                    key=channel,
                )


class RecoveredChannels(StandingStore):
    """Root coordinator and streaming nodes."""

    name = "store-recovered-channels"
    property_id = "catalogue.a_streaming_node_recovers_each_channel"
    rule = (
        "Each channel of a created collection is in the recovery metadata of its log, if that is read so far."
    )
    kinds = ("etcd.collection", "etcd.vchannel", "etcd.consumed", "etcd.pchannel", *StandingStore.also)

    def judge(self, stands: dict[str, Entry], history: dict[str, Entry]) -> None:
        """Each channel against the metadata of its physical channel."""
        of: dict[str, dict[str, Entry]] = {kind: {} for kind in self.kinds}
        for one in stands.values():
            of[one.kind][one.channel or ""] = one
        known, read = of["etcd.vchannel"], of["etcd.consumed"]
        if not (known or read or of["etcd.pchannel"]):
            return  # before 2.6 there are no streaming nodes
        if not of["etcd.collection"] and not any(one.kind == "etcd.collection" for one in history.values()):
            self.answer.events = len(known) + len(read)
            self.answer.doubt(_NO_COLLECTIONS)
        for channel, created in _channels(stands):
            self.answer.events += 1
            mine, place = known.get(channel), read.get(physical_channel(channel))
            if mine is not None and mine.text not in _DROPPED:
                continue
            if place is None:
                self.answer.doubt("how far a log is read (`.../consume-checkpoint`) is not in the store")
            elif not self.old(created.ts, place.ts):
                self.answer.report(
                    f"The log of {channel} is hardly read behind the creation of its collection."
                )
            elif self.old(max(created.ts, created.clock, mine.ts if mine else 0)):
                self.answer.breach(
                    f"The streaming node {'holds for dropped' if mine else 'does not know'} {channel}, whose "
                    f"collection was created {self.ago(created.ts)} ago, and reads the log behind that: its "
                    "checkpoint stands still, and nothing repairs it.",
                    Place(created.source, created.line, f"a collection with {channel}"),
                    Place(place.source, place.line, "where recovery begins"),
                    key=channel,
                )


class LeftOver(StandingStore):
    """Segments and channels of no collection."""

    name = "store-orphans"
    property_id = "catalogue.nothing_is_left_of_what_is_dropped"
    rule = "Each segment that is not dropped, and each channel of a streaming node, belongs to a collection."
    kinds = ("etcd.collection", "etcd.segment", "etcd.vchannel", "etcd.checkpoint", *StandingStore.also)

    def judge(self, stands: dict[str, Entry], history: dict[str, Entry]) -> None:
        """Each owned thing against the collections."""
        collections = {_last(key) for key, one in stands.items() if one.kind == "etcd.collection"}
        removed = {_last(key): one for key, one in history.items() if _is_removed_collection(key, one)}
        earlier = [
            (clock, keys, {_last(key) for key, one in keys.items() if one[2] == "etcd.collection"})
            for source, (_, clock) in sorted(self.dumps.items(), key=lambda dump: dump[1])
            if (keys := self.last.get(source))
        ]
        for key, one in stands.items():
            hit = _COLLECTION.search(one.channel or "")
            if one.kind not in ("etcd.segment", "etcd.vchannel") or one.text in _DROPPED or hit is None:
                continue
            self.answer.events += 1
            if hit[1] in collections:
                continue
            if not (collections or removed):
                self.answer.doubt(_NO_COLLECTIONS)
                continue
            end = removed.get(hit[1])
            since = next((clock for clock, keys, ids in earlier if key in keys and hit[1] not in ids), 0)
            if self.old(since or max(one.clock, end.clock if end else 0)):
                gone = [Place(end.source, end.line, f"collection {hit[1]} is removed")] if end else []
                self.answer.breach(
                    f"{'Channel' if one.kind == 'etcd.vchannel' else 'Segment'} {_last(key)} belongs to "
                    f"collection {hit[1]}, which the root coordinator does not have.",
                    *gone,
                    Place(one.source, one.line, one.text or ""),
                    key=one.channel or "",
                )
            elif not one.clock:
                self.answer.doubt(
                    f"of collection {hit[1]}, which is not there, segments or channels are: it was dropped "
                    "just now, or they are left over; a dump some minutes later, given with this one, decides"
                )


def _last(key: str) -> str:
    return key.rpartition("/")[2]


def _is_removed_collection(key: str, one: Entry) -> bool:
    return one.text == "delete" and "/root-coord/" in key


class Leases(StandingStore):
    """Sessions that nothing ends."""

    name = "store-leases"
    property_id = "catalogue.a_session_has_its_lease"
    rule = "The key of each session is bound to a lease, without which it outlives its process."
    kinds = ("etcd.session", "etcd.session_end", DUMP)
    needs = ("etcd.session",)

    def judge(self, stands: dict[str, Entry], history: dict[str, Entry]) -> None:
        """Each session by itself."""
        del history
        if not any(one.seq for one in stands.values()):
            self.answer.events = len(stands)
            self.answer.doubt(
                "no session has a lease: this form of the store does not say which keys have one"
            )
            return
        for key, one in stands.items():
            self.answer.events += 1
            if not one.seq:
                self.answer.breach(
                    f"The session {key} has no lease any more: it stays when its process ends, and is waited "
                    "for.",
                    Place(one.source, one.line, "a key without lease"),
                    key=key,
                )
