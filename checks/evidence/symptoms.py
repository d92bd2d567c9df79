"""Lines and errors that people report, and what each means in the words of the protocols.

A diagnosis is no verdict: it names the finding that explains a line, what to look at next, and which further
evidence would decide. Where a distance to the writer's clock counts, the clock orders nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from tidemark.checks.evidence.table.events import Events
from tidemark.checks.evidence.table.schema import LOGICAL_BITS

KIND = "symptom"
"""Kind of the event of a line that only a symptom names; its text is the symptom's name."""

_COLUMNS = ("source", "line", "kind", "text", "channel", "ts", "at")
_SHOWN = 3
"""So many channels are named."""


@dataclass(frozen=True, kw_only=True)
class Symptom:
    """What shows it, and what it means.

    messages: of log lines, whole. words: in an error of a client, or in a line whose head was cut off.
    kinds: events that show it. behind_s: only if their timestamp is more seconds behind the writer's clock.
    """

    name: str
    means: str
    finding: str
    """Id of the finding that explains it."""
    look: str
    decides: str
    messages: tuple[bytes, ...] = ()
    words: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    behind_s: int = 0


SYMPTOMS = (
    Symptom(
        name="service-time-lag",
        messages=(
            b"guarantee and serviceable ts larger than MaxLag",
            b"delegator query failed to wait tsafe",
            b"delegator search failed to wait tsafe",
        ),
        words=("timestamp lag too large", "failed to wait tsafe"),
        means="The service time (tSafe) of the channel is so far behind the guarantee timestamp that the "
        "read is refused. The query node gets no time ticks of the channel, or does not apply them.",
        finding="reads-stall",
        look="serviceableTime of the line: which process sent or consumed ticks of this channel then?",
        decides="the broker's messages of the channel: ticks after that time blame the query node, none "
        "blame the root coordinator or streaming node",
    ),
    Symptom(
        name="checkpoint-behind",
        messages=(b"update channel checkpoint failed",),
        kinds=("checkpoint.store", "checkpoint.answer"),
        behind_s=3600,
        means="The channel checkpoint is more than an hour behind the writer's clock: the earliest row that "
        "is not durable holds it, or the data node is behind the ticks.",
        finding="late-row-pins",
        look="buffers of the channel that no sync policy picks, and sync tasks that fail and are repeated",
        decides="the log of the data node or streaming node that owns the channel, with its sync tasks",
    ),
    Symptom(
        name="flush-waits",
        messages=(b"GetFlushState failed, channel unflushed",),
        words=("channel unflushed",),
        means="A flush is not confirmed: the stored checkpoint of the channel has not reached its flushTs.",
        finding="flush-told",
        look="whether the channel has an owner, and whether the owner's checkpoint moves",
        decides="the store's history (`tidemark evidence --etcd`): the writes of this channel's checkpoint",
    ),
    Symptom(
        name="no-owner",
        messages=(
            b"timeout and stop timer: wait for channel ACK timeout",
            b"receive timeout acks from state watcher",
        ),
        words=("wait for channel ack timeout",),
        means="No data node has taken the channel over: nothing moves its checkpoint, and no flush ends.",
        finding="flush-told",
        look="the node that is named: does it live, does it read the channel's past?",
        decides="the log of that data node from the time of the assignment on",
    ),
    Symptom(
        name="not-owner",
        messages=(b"node is not matched with channel",),
        words=("node is not matched with channel", "is not watched on node"),
        means="A node reports or saves for a channel that the coordinator has given to another one. A save "
        "that is refused must not count as success.",
        finding="ownership-refused-save",
        look="when the channel was assigned to whom, and whether the node dropped what was refused",
        decides="the store's history: saves and checkpoints of the channel around the hand-over",
    ),
    Symptom(
        name="seek-behind",
        kinds=("seek.checkpoint", "seek.other", "seek.pipeline"),
        behind_s=600,
        means="Recovery begins more than ten minutes back: all that follows is read again and filtered. What "
        "the broker has deleted meanwhile is lost.",
        finding="recovery-boundary",
        look="the broker's retention, and why the checkpoint did not move before the restart",
        decides="the first message that the broker still holds of the channel",
    ),
    Symptom(
        name="session-refused",
        kinds=("report.refused",),
        words=("un-recognized session",),
        means="The root coordinator refuses reports of a proxy whose session it does not know. The proxy "
        "still takes writes, and ticks do not wait for them.",
        finding="tick-barrier",
        look="whether rows of that proxy appear in the log behind a tick at or above their timestamp",
        decides="the broker's messages of the channels during the refusals",
    ),
    Symptom(
        name="session-silent",
        messages=(b"session idle for long time",),
        means="A session that does not report holds back the ticks of all channels until its lease ends.",
        finding="tick-silent",
        look="the process with the id in the idle list: gone, paused, or cut off?",
        decides="the store's history of the session's key",
    ),
    Symptom(
        name="ticks-slow",
        messages=(
            b"rootcoord send tt to all channels too slowly",
            b"time tick lag behind for more than 1 minutes",
        ),
        means="Time ticks reach the channels late: reads at Strong wait that long, and checkpoints lag.",
        finding="tick-full-queue",
        look="how long an append to the broker takes",
        decides="the broker's ticks, with the time between two of one channel",
    ),
    Symptom(
        name="tick-back",
        kinds=("tick.back",),
        means="A source reports a smaller timestamp than before.",
        finding="tick-goes-back",
        look="whether a coordinator or a proxy was started just before",
        decides="the broker's ticks of all channels",
    ),
    Symptom(
        name="lease-lost",
        messages=(b"connection lost detected, shuting down", b"session keepalive channel closed"),
        kinds=("server.exit",),
        words=("process will exit",),
        means="The process has lost its session in etcd and ends. What it sent before may still arrive; a "
        "session may be removed only together with its right to append.",
        finding="tick-fence",
        look="whether the process was paused (CPU, memory, disk of etcd), and what it wrote afterwards",
        decides="the broker's messages and the store's history around the end of the lease",
    ),
    Symptom(
        name="store-slow",
        messages=(
            b"Slow etcd operation save",
            b"Slow etcd operation load with prefix",
            b"failed to update tso",
        ),
        means="etcd answers late. The oracle saves its window 3 s ahead: a save that takes longer stops "
        "timestamps, and one that timed out may arrive later.",
        finding="late-save",
        look="latency of etcd's disk, and the time spent in these lines",
        decides="the store's history: the values of the oracle's key, in order",
    ),
    Symptom(
        name="clock-ahead",
        kinds=("tso.lag",),
        means="The clock is ahead of the oracle's timestamps: the updater ran late, or the clock stepped. "
        "Uniqueness and order do not depend on it; reads that compare with a clock do.",
        finding="clock-back",
        look="slow saves of etcd at the same time, and the time service of the machine",
        decides="the store's history: the values of the oracle's key, in order",
    ),
    Symptom(
        name="counter-exhausted",
        messages=(b"logical part outside of max logical interval, please check ntp time",),
        words=("can not get timestamp",),
        means="The 18 bits of the logical counter are used up while the physical part stands still. Requests "
        "wait, and fail after ten tries: without this check timestamps repeat.",
        finding="counter-overflow",
        look="why the physical part stands: the clock was set back, or saves of the window fail",
        decides="the oracle's lines (`clock offset is huge`, `failed to update tso`) before these",
    ),
    Symptom(
        name="channel-not-available",
        words=("channel not available", "no available shard", "distribution is not serviceable"),
        means="No replica serves the channel: loading is not complete, or its node is gone.",
        finding="segments-loads",
        look="whether the query coordinator assigns the channel anew, and what its new node waits for",
        decides="the logs of the query coordinator and of the query node that had the channel",
    ),
    Symptom(
        name="wal-not-assigned",
        messages=(
            b"channel is not assigned to any server",
            b"channel of current server id is not healthy or not alive",
            b"fail to assign channel",
        ),
        means="The balancer has no streaming node that serves the channel's log: nothing is appended, no "
        "tick passes, and reads at Strong wait.",
        finding="streaming-unknown-outcome",
        look="state and term of the line: ASSIGNING for long means that the new node cannot open the log",
        decides="the log of the streaming node that is named, from its `open new wal` on",
    ),
    Symptom(
        name="catalogues-differ",
        messages=(b"inconsistency detected",),
        means="The streaming node's recovery metadata does not fit the log: a virtual channel or a segment "
        "of which a message speaks is not in it. Its checkpoint then stands still, and nothing repairs that.",
        finding="flush-told",
        look="reason and virtual channel of the line, and whether the channel's stored checkpoint moves",
        decides="the store's keys of the root coordinator, the data coordinator and the streaming node: "
        "which of them lack the channel",
    ),
    Symptom(
        name="wal-not-opened",
        messages=(
            b"open new wal fail",
            b"Call Sync, but storage is not writable, quick fail all append requests",
        ),
        means="The streaming node cannot append to the channel's log: its term cannot begin, or was fenced.",
        finding="streaming-unknown-outcome",
        look="the expected and the current term, and who holds the log",
        decides="the log of the node that had the channel before, to its end",
    ),
)

_WORDS = re.compile(
    b"|".join(
        b"(" + b"|".join(re.escape(words.encode()) for words in one.words) + b")"
        for one in SYMPTOMS
        if one.words
    ),
    re.IGNORECASE,
)
_WORDED = [one.name for one in SYMPTOMS if one.words]


def symptom_in(text: bytes) -> str:
    """The name of the first symptom whose words are in the text, or ""."""
    found = _WORDS.search(text)
    return _WORDED[(found.lastindex or 1) - 1] if found else ""


@dataclass(frozen=True)
class Diagnosis:
    """A symptom, with how often it shows and where first."""

    symptom: Symptom
    count: int
    place: str
    channels: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """What is printed."""
        times = "once" if self.count == 1 else f"{self.count:,} times"
        more = len(self.channels) - _SHOWN
        on = ", ".join(self.channels[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        yield f"{self.symptom.name}: {times}, first at {self.place}" + (f", on {on}" if on else "")
        yield f"  meaning: {self.symptom.means}"
        yield f"  explained by: tidemark show findings {self.symptom.finding}"
        yield f"  look next at: {self.symptom.look}"
        yield f"  decided by: {self.symptom.decides}"


def diagnoses(events: Events) -> list[Diagnosis]:
    """The symptoms that some events show, in the order of the table."""
    kinds = events.kinds().keys() & {KIND, *(kind for one in SYMPTOMS for kind in one.kinds)}
    rows = events.table(*_COLUMNS, kinds=sorted(kinds)) if kinds else None
    if rows is None:
        return []
    shown = ((one, rows.filter(_shows(rows, one))) for one in SYMPTOMS)
    return [_diagnosis(one, found) for one, found in shown if found.num_rows]


def _shows(rows: pa.Table, one: Symptom) -> pa.ChunkedArray:
    of_kind = pc.is_in(rows["kind"], pa.array(one.kinds, pa.string()))
    if one.behind_s:
        behind = pc.subtract(rows["at"], pc.shift_right(rows["ts"], LOGICAL_BITS))
        of_kind = pc.and_kleene(of_kind, pc.greater(behind, one.behind_s * 1000))
    by_name = pc.and_kleene(pc.equal(rows["kind"], KIND), pc.equal(rows["text"], one.name))
    return pc.or_kleene(of_kind, by_name)


def _diagnosis(symptom: Symptom, found: pa.Table) -> Diagnosis:
    channels = dict.fromkeys(one for one in found["channel"].to_pylist() if one)
    place = f"{found['source'][0].as_py()}:{found['line'][0].as_py()}"
    return Diagnosis(symptom, found.num_rows, place, tuple(channels))
