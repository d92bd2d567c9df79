"""An oracle process: campaigns for the leader key, serves one term, and stops before the lease ends.

A process serves one term at most and restarts to lead again, so that no state of one term reaches the next
(B4).
"""

from collections.abc import Callable
from functools import partial

from tidemark.impl.errors import NotLeaderError, StoreError
from tidemark.impl.runtime import Supervisor
from tidemark.impl.timestamp import Batch
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.oracle import Published, TimestampOracle
from tidemark.impl.tso.ports import OraclePorts
from tidemark.impl.tso.term import Term


class OracleServer:
    """One incarnation of an oracle process.

    Milvus: GlobalTSOAllocator, tsLoop

    Args:
        make: makes the object that is published.

    Attributes:
        name: unique among the processes that use the same store.
        term: the term; None before the election.
        oracle: its oracle.
        stopped: why it has stopped serving; empty before.
    """

    def __init__(
        self,
        *,
        name: str,
        ports: OraclePorts,
        config: OracleConfig,
        make: Callable[[int], Published] = Published,
        log: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self.name = name
        self.term: Term | None = None
        self.oracle: TimestampOracle | None = None
        self.stopped = ""
        self._ports = ports
        self._config = config
        self._make = make
        self._log = log
        self._supervisor = Supervisor()

    async def run(self) -> None:
        """Wait for the leader key, serve until the term has ended, and return. ``stopped`` says why."""
        term = self.term = await self._campaign()
        if self.stopped:  # while it campaigned
            await self._resign(term)
            return
        oracle = self.oracle = TimestampOracle(
            ports=self._ports, term=term, config=self._config, make=self._make
        )
        try:
            await self._serve(oracle, term)
        except (NotLeaderError, StoreError) as failure:
            term.end(str(failure))
        finally:
            self.stop(term.ended or "it was stopped")
            await self._supervisor.stop()
        await self._resign(term)

    async def _campaign(self) -> Term:
        while True:
            asked_at = self._ports.steady.monotonic()
            try:
                leadership = await self._ports.store.campaign(self.name, lease=self._config.lease)
            except StoreError as failure:
                self._log(f"{self.name}: campaign failed: {failure}")
                await self._ports.clock.sleep(self._config.campaign_pause)
                continue
            if leadership is not None:
                self._log(f"{self.name}: leads in term {leadership.term}")
                return Term(
                    leadership,
                    steady=self._ports.steady,
                    asked_at=asked_at,
                    margin=self._config.lease_margin,
                )
            await self._wait_vacant()

    async def _wait_vacant(self) -> None:
        try:
            await self._ports.store.wait_vacant()
        except StoreError as failure:
            self._log(f"{self.name}: cannot watch the leader: {failure}")
            await self._ports.clock.sleep(self._config.campaign_pause)

    async def _serve(self, oracle: TimestampOracle, term: Term) -> None:
        """Start, update, renew and watch, until one of them ends the term."""
        spawn = self._supervisor.spawn
        spawn(partial(self._renew, term), f"{self.name} renew")
        spawn(partial(self._watch, term), f"{self.name} watch")
        spawn(partial(self._lead, oracle), f"{self.name} lead")
        await self._supervisor.wait_failed()

    async def _lead(self, oracle: TimestampOracle) -> None:
        await oracle.start()
        self._log(f"{self.name}: serves from {oracle.first} ns on")
        self._supervisor.spawn(partial(self._update, oracle), f"{self.name} update 0")

    async def _update(self, oracle: TimestampOracle, updater: int = 0) -> None:
        """A failed save is tried again with the next update; until then the physical time stays."""
        while True:
            await self._ports.clock.sleep(self._config.update_pause)
            try:
                await oracle.update(updater)
            except StoreError as failure:
                self._log(f"{self.name}: the window was not saved: {failure}")

    async def _renew(self, term: Term) -> None:
        while True:
            await self._ports.clock.sleep(self._config.renew_pause)
            asked_at = self._ports.steady.monotonic()
            try:
                await self._ports.store.renew(term.leadership)
            except StoreError as failure:
                self._log(f"{self.name}: the lease was not renewed: {failure}")
            else:
                term.renewed(asked_at)

    async def _watch(self, term: Term) -> None:
        """End the term when its time has run out, even while a renewal waits."""
        while True:
            await self._ports.clock.sleep(max(term.remaining(), self._config.update_pause))
            try:
                term.check()
            except NotLeaderError:
                self.stop(term.ended)
                raise

    def stop(self, why: str) -> None:
        """Step down: refuse calls from now on."""
        if self.term is not None:
            self.term.end(why)
        if self.oracle is not None:
            self.oracle.stop()
        if not self.stopped:
            self.stopped = why
            self._log(f"{self.name}: stopped: {why}")

    async def _resign(self, term: Term) -> None:
        """Let the next leader in at once. If that fails, the lease runs out."""
        try:
            await self._ports.store.resign(term.leadership)
        except StoreError as failure:
            self._log(f"{self.name}: the leader key stays until its lease ends: {failure}")

    # What clients ask.

    async def allocate(self, count: int = 1) -> Batch:
        """Hand out ``count`` timestamps. Raise NotLeaderError outside the term, or NoTimestampError."""
        if self.oracle is None:
            why = self.stopped or "it is not elected"
            raise NotLeaderError(f"{self.name} does not lead: {why}; ask the leader")
        return await self.oracle.allocate(count)
