"""Channel checkpoints: in the store, in log lines, at recovery, and how far they lag."""

import json
from collections.abc import Iterable
from typing import Any

from tidemark.checks.evidence.monitors.base import Answer, LogMonitor, Monitor, Place, seconds, shown
from tidemark.checks.evidence.table.schema import LARGEST, hybrid, physical

SYNC_PERIOD = 600.0
"""Seconds after which a buffer is synced at the latest, as shipped (``dataNode.segment.syncPeriod``)."""
INTERVAL = 60.0
"""Seconds between two checkpoints of a channel, as shipped."""
LAG_BOUND = SYNC_PERIOD * 1.1 + INTERVAL + 30.0
"""A buffer is taken after the period and up to a tenth more; then the checkpoint goes with the next interval.
Half a minute is left for the sync itself and for the saved window, which runs three seconds ahead."""


class Rising(Monitor):
    """A timestamp of each channel that never goes back, under a ``noun``."""

    noun = "checkpoint"
    shown = "checkpoint {}"

    def __init__(self) -> None:
        super().__init__()
        self.last: dict[tuple[str, str], tuple[int, str, int]] = {}

    def rise(self, key: tuple[str, str], ts: int, source: str, line: int) -> None:
        """The next timestamp of a channel, the last part of the key."""
        self.answer.events += 1
        before = self.last.get(key, (ts, source, line))
        if ts < before[0]:
            sentence = f"The {self.noun} of {key[-1]} goes back by {seconds(before[0], ts)}."
            places = (Place(s, n, self.shown.format(shown(t))) for t, s, n in (before, (ts, source, line)))
            self.answer.breach(sentence, *places, key=key[-1])
        self.last[key] = (ts, source, line)


class StoredCheckpoint(Rising):
    """Channel checkpoints in the order of the store."""

    name = "store-checkpoint"
    property_id = "flush.stored_never_goes_back"
    rule = "The stored checkpoint of a channel never goes back, revision by revision."
    kinds = ("etcd.checkpoint",)
    columns = ("source", "line", "channel", "ts")
    by = "channel"

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, channel, ts in rows:
            before = self.last.get(("", channel))
            if before is None or line != before[2]:
                self.rise(("", channel), ts, source, line)


class LoggedCheckpoint(Rising, LogMonitor):
    """The coordinator's lines about stored checkpoints, in one file across its restarts."""

    name = "log-checkpoint"
    shown = "checkpoint {} stored"
    property_id = "flush.stored_never_goes_back"
    rule = "The checkpoint that the coordinator says it has stored never goes back."
    kinds = ("checkpoint.store",)
    columns = ("source", "line", "channel", "ts", "at")

    def __init__(self) -> None:
        super().__init__()
        self.late: dict[tuple[str, str], float] = {}

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, channel, ts, at in rows:
            self._late(source, channel, ((at or 0) - physical(ts)) / 1000)
            self.rise((source, channel), ts, source, line)

    def _late(self, source: str, channel: str, lag: float) -> None:
        """Keep by how much a checkpoint is at most behind the clock of the line, if that is too much."""
        if lag > max(LAG_BOUND, self.late.get((source, channel), 0)):
            self.late[source, channel] = lag

    def close(self) -> Answer:
        """How late the checkpoints were is no breach: the clock is another one."""
        done = Answer.from_dict(self.answer.as_dict())
        for (_, channel), lag in sorted(self.late.items()):
            done.report(
                f"The stored checkpoint of {channel} lags by {lag:,.0f} s behind the clock of its line; as "
                f"shipped, {LAG_BOUND:.0f} s are the bound of flush.checkpoint_advances."
            )
        return done


class ConsumedCheckpoint(LoggedCheckpoint):
    """How far recovery storage has read a physical channel."""

    name = "log-wal-checkpoint"
    rule = "The checkpoint of a physical channel that recovery storage says it has stored never goes back."
    kinds = ("wal.checkpoint",)


class AnsweredCheckpoint(LogMonitor):
    """A data node's request is answered: then its position is stored, or a later one."""

    name = "log-checkpoint-answer"
    property_id = "flush.an_answer_to_the_owner_means_stored"
    rule = "An answered checkpoint is at or below one that the coordinator said it has stored."
    kinds = ("checkpoint.store", "checkpoint.answer", "seek.checkpoint")
    excused_by = ("checkpoint.store", "seek.checkpoint")
    needs = ("checkpoint.answer",)
    columns = ("source", "line", "kind", "channel", "ts")

    def __init__(self) -> None:
        super().__init__()
        self.stored: dict[tuple[str, str], tuple[int, int]] = {}

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, channel, ts in rows:
            before = self.stored.get((source, channel))
            if kind != "checkpoint.answer":
                if before is None or ts > before[0]:
                    self.stored[source, channel] = (ts, line)
                continue
            if before is None:
                self.answer.doubt("the coordinator's lines about the channel are not in the same file")
                continue
            self.answer.events += 1
            if ts > before[0]:
                self.answer.breach(
                    f"A checkpoint of {channel} is answered that was not stored.",
                    Place(source, before[1], f"stored {shown(before[0])}"),
                    Place(source, line, f"answered {shown(ts)}"),
                    key=channel,
                )


class FlushReset(LogMonitor):
    """A flush is forgotten by the answer to a checkpoint beyond it: the line about the answer comes next."""

    name = "log-flush-reset"
    property_id = "flush.reset_only_by_greater_checkpoint"
    rule = "A flushTs is reset only by a checkpoint above it."
    kinds = ("flush.deliver", "flush.reset", "checkpoint.store", "checkpoint.answer")
    needs = ("flush.deliver", "flush.reset")
    excused_by = ("checkpoint.store", "checkpoint.answer")
    columns = ("source", "line", "kind", "channel", "ts")

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[tuple[str, str], tuple[int, int]] = {}
        self.best: dict[tuple[str, str], int] = {}
        self.open: dict[tuple[str, str], tuple[int, int, int]] = {}
        """Resets without a greater checkpoint so far: the flush, its line, that of the reset."""

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, channel, ts in rows:
            key = (source, channel)
            if kind == "flush.deliver":
                self.asked[key] = max((ts, line), self.asked.get(key, (0, 0)))
            elif kind == "flush.reset":
                if key in self.asked:
                    self.answer.events += 1
                    self.open[key] = (*self.asked.pop(key), line)
            else:
                self.best[key] = max(ts, self.best.get(key, 0))
            if key in self.open and kind == "checkpoint.answer":
                self._decide(self.answer, key, self.open.pop(key))

    def _decide(self, answer: Answer, key: tuple[str, str], reset: tuple[int, int, int]) -> None:
        """A flush that was given as a time has no counter: a checkpoint that is equal may be greater."""
        asked, asked_line, line = reset
        best = self.best.get(key)
        if best is None:
            answer.doubt("no line says a checkpoint of the channel")
        elif best < asked or (best == asked and asked != hybrid(physical(asked))):
            answer.breach(
                f"The flush of {key[1]} is reset, and its checkpoint is not above it.",
                Place(key[0], asked_line, f"flush up to {shown(asked)}"),
                Place(key[0], line, f"reset; checkpoint {shown(best)}"),
                key=key[1],
            )

    def close(self) -> Answer:
        """Decide resets that no answer has followed."""
        done = Answer.from_dict(self.answer.as_dict())
        for key, reset in sorted(self.open.items()):
            self._decide(done, key, reset)
        return done


class RecoverySeek(LogMonitor):
    """Where a node begins to read again."""

    name = "log-recovery"
    property_id = "flush.recovery_begins_at_the_checkpoint"
    rule = "Recovery does not begin beyond the checkpoint that was stored last."
    kinds = ("checkpoint.store", "seek.checkpoint")
    needs = ("checkpoint.store", "seek.checkpoint")
    excused_by = ("checkpoint.store",)
    columns = ("source", "line", "kind", "channel", "ts")

    def __init__(self) -> None:
        super().__init__()
        self.stored: dict[tuple[str, str], tuple[int, int]] = {}
        self.early: dict[tuple[str, str], list[tuple[int, int, int, int]]] = {}
        """Seeks beyond what was said to be stored: the line about it may come a moment later."""

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, channel, ts in rows:
            key = (source, channel)
            before = self.stored.get(key)
            if kind == "checkpoint.store":
                self.early[key] = [seek for seek in self.early.get(key, ()) if seek[0] > ts]
                self.stored[key] = (ts, line)
            elif before is not None:
                self.answer.events += 1
                if ts > before[0]:
                    self.early.setdefault(key, []).append((ts, line, *before))
                elif ts < before[0]:
                    self.answer.report(
                        "Recovery begins below the stored checkpoint (allowed: more is read again)."
                    )

    def close(self) -> Answer:
        """What was still not stored at the end of the evidence."""
        done = Answer.from_dict(self.answer.as_dict())
        for (source, channel), seeks in sorted(self.early.items()):
            for ts, line, stored, stored_line in seeks:
                done.breach(
                    f"Recovery of {channel} begins {seconds(ts, stored)} beyond the stored checkpoint.",
                    Place(source, stored_line, f"stored {shown(stored)}"),
                    Place(source, line, f"recovery at {shown(ts)}"),
                    key=channel,
                )
        return done


class CheckpointLag(Monitor):
    """A bound in place of "in the end": how far checkpoints stay behind the oracle."""

    name = "store-checkpoint-lag"
    property_id = "flush.checkpoint_advances"
    rule = f"No checkpoint of a channel in use stays more than {LAG_BOUND:.0f} s behind the saved window."
    kinds = ("etcd.checkpoint", "etcd.window", "etcd.other", "etcd.collection")
    needs = ("etcd.checkpoint", "etcd.window")
    columns = ("source", "line", "kind", "channel", "key", "ts", "text", "value")
    excused_by = ("etcd.checkpoint", "etcd.other")
    of_state = True

    def __init__(self) -> None:
        super().__init__()
        self.last: dict[str, tuple[int, int, str]] = {}
        self.late: set[str] = set()
        self.channels: dict[str, list[str]] = {}
        """Key of a collection -> its channels, none if it is not created."""

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, channel, key, ts, text, value in rows:
            if kind == "etcd.checkpoint":
                self.last[channel] = (ts, line, source)
                self.late.discard(channel)
            elif kind == "etcd.window":
                self._look(source, line, ts)
            elif kind == "etcd.collection":
                self.channels[key] = json.loads(value) if text == "Created" else []
            elif text == "delete" and "/channel-cp/" in key:
                self.last.pop(key.rpartition("/")[2], None)
            elif text == "delete" and key in self.channels:
                self.channels[key] = []

    def _look(self, source: str, line: int, now: int) -> None:
        living = {channel for channels in self.channels.values() for channel in channels}
        for channel, (ts, stored_line, stored_source) in self.last.items():
            if self.channels and channel not in living:
                continue
            self.answer.events += 1
            lag = (physical(now) - physical(ts)) / 1000
            if ts < LARGEST and lag > LAG_BOUND and channel not in self.late:
                self.late.add(channel)
                self.answer.breach(
                    f"The checkpoint of {channel} stays {lag:.0f} s behind.",
                    Place(stored_source, stored_line, f"checkpoint {shown(ts)}"),
                    Place(source, line, f"window saved up to {shown(now)}"),
                    key=channel,
                )


class ServiceTime(Rising, LogMonitor):
    """The service time of a channel on a query node."""

    name = "log-service-order"
    noun = "service time"
    shown = "service time {}"
    property_id = "reads.service_time_never_goes_back"
    rule = "The service time of a channel never goes back while its query node lives."
    kinds = ("tsafe.start", "tsafe.next", "server.start")
    excused_by = ("server.start", "tsafe.start")
    needs = ("tsafe.next",)
    columns = ("source", "line", "kind", "channel", "ts")

    def _feed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for source, line, kind, channel, ts in rows:
            if kind == "server.start":
                self.last = {key: value for key, value in self.last.items() if key[0] != source}
                continue
            if kind == "tsafe.next" and (source, channel) in self.last:
                self.rise((source, channel), ts, source, line)
            self.last[source, channel] = (ts, source, line)
