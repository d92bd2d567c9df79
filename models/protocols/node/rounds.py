"""The reports of checkpoints as they should be: merged by channel, in rounds of batches, in turn."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from tidemark.impl.config import DataNodeConfig
from tidemark.models.protocols.common.scripted import OK

NODE = "n"
"""Id of the node."""

Position = tuple[str, int, int]
"""Channel, position, term."""
Batch = tuple[Position, ...]


@dataclass
class Pending:
    """What is to be reported of a channel. urgent: a flush waits for it."""

    position: int
    term: int
    urgent: bool


class Rounds:
    """The updater.

    Args:
        ask: told of what must be asked in the present step.
        stored: told of each position that the coordinator has stored.

    Attributes:
        pending: by channel, in the order in which they came.
        signal: a flush has asked for a round.
        sending: what the present round reports.
        line: the rounds under way (the first one) and to come, "timer" or "signal".
    """

    def __init__(
        self,
        config: DataNodeConfig,
        *,
        ask: Callable[[tuple[Hashable, ...]], None],
        stored: Callable[[str, int], None],
    ) -> None:
        self.pending: dict[str, Pending] = {}
        self.signal = False
        self.line: list[str] = []
        self.sending: list[tuple[str, int]] = []
        self._config = config
        self._ask = ask
        self._stored = stored
        self._batches: list[Batch] = []
        self._open: list[Batch] = []
        self._acked: list[Position] = []

    def add(self, channel: str, position: int, term: int, *, urgent: bool) -> None:
        """A checkpoint is to be reported: the greater one, and urgent if either was."""
        known = self.pending.get(channel)
        if known is None:
            self.pending[channel] = Pending(position, term, urgent)
        elif position > known.position or (urgent and not known.urgent):
            self.pending[channel] = Pending(max(position, known.position), term, urgent or known.urgent)
        if urgent:
            self.signal = True
            self._answer_signal()

    def forget(self, channel: str) -> None:
        """Nothing of the channel is reported any more, but what is under way."""
        self.pending.pop(channel, None)

    def _answer_signal(self) -> None:
        if self.signal and "signal" not in self.line:
            self.begin("signal")

    def begin(self, kind: str) -> None:
        """A round is to begin: at once, or after those before."""
        self.line.append(kind)
        if len(self.line) == 1:
            self._start()

    def _start(self) -> None:
        urgent_only = self.line[0] == "signal"
        if urgent_only:
            self.signal = False
        taken = [(c, p) for c, p in self.pending.items() if p.urgent or not urgent_only]
        if urgent_only:
            for _, pending in taken:
                pending.urgent = False
        size = self._config.max_positions_per_rpc
        every = [(channel, pending.position, pending.term) for channel, pending in taken]
        self._batches = [tuple(every[at : at + size]) for at in range(0, len(every), size)]
        self._acked = []
        self.sending = [(channel, position) for channel, position, _ in every]
        self._send()

    def _send(self) -> None:
        """So many batches at a time; the next ones when all of them are answered."""
        parallel = self._config.max_parallel_rpcs
        self._open, self._batches = self._batches[:parallel], self._batches[parallel:]
        for batch in self._open:
            self._ask(("update", batch, self._config.checkpoint_rpc_timeout))
        if not self._open:
            self._end()

    def answered(self, batch: Sequence[Position], answer: str) -> None:
        """A batch is stored, or may not be: then it stays."""
        self._open.remove(tuple(batch))
        if answer == OK:
            self._acked += batch
            for name, position, _ in batch:
                self._stored(name, position)
        if not self._open:
            self._send()

    def _end(self) -> None:
        for name, position, _ in self._acked:
            known = self.pending.get(name)
            if known is not None and known.position <= position:
                del self.pending[name]
        self.sending = []
        if self.line.pop(0) == "timer":
            timer = self._config.checkpoint_tick_seconds
            self._ask(("sleep", f"{NODE} checkpoint timer", timer))
        if self.line:
            self._start()
        self._answer_signal()
