"""Constants of the oracle. The defaults are those of Milvus (facts 2; the lease is that of 2.6)."""

from dataclasses import dataclass

from tidemark.impl.timestamp import MAX_LOGICAL, NANOSECONDS


@dataclass(frozen=True, kw_only=True)
class OracleConfig:
    """Configuration of one oracle process. Times of the wall clock in nanoseconds, pauses in seconds.

    Milvus: updateTimestampGuard, saveInterval, UpdateTimestampStep, maxLogical

    guard: the physical time moves by more than this, or not at all; also the least distance to the end of
        the window. Below one millisecond, one millisecond could be handed out twice.
    window: how far ahead of the physical time the window is saved.
    step: added to the physical time when the counter runs out before the clock has advanced.
    max_logical: the counter stays below this; half of it is the mark for ``step``.
    update_pause: between two updates of the physical time.
    tries: of one allocation, before it fails.
    unready_pause, overflow_pause: before the next try.
    lease: seconds for which the leader key exists without being renewed.
    lease_margin: the leader stops this many seconds earlier.
    renew_pause: between two renewals of the lease.
    campaign_pause: between two tries to become the leader, when its removal is not noticed.
    """

    guard: int = NANOSECONDS
    window: int = 3_000 * NANOSECONDS
    step: int = NANOSECONDS
    max_logical: int = MAX_LOGICAL
    update_pause: float = 0.05
    tries: int = 10
    unready_pause: float = 0.2
    overflow_pause: float = 0.05
    lease: float = 15.0
    lease_margin: float = 3.0
    renew_pause: float = 3.0
    campaign_pause: float = 1.0

    def __post_init__(self) -> None:
        for name in ("guard", "window", "step", "max_logical", "tries"):
            value = getattr(self, name)
            if value < 1:
                raise ValueError(f"{name} is {value}; it must be at least 1")
        for name in ("update_pause", "unready_pause", "overflow_pause", "renew_pause", "campaign_pause"):
            value = getattr(self, name)
            if value <= 0:
                raise ValueError(f"{name} is {value}; it must be a positive number of seconds")
        if self.max_logical > MAX_LOGICAL:
            raise ValueError(f"max_logical is {self.max_logical}; a timestamp has room for {MAX_LOGICAL}")
        if self.window <= self.guard:
            raise ValueError(
                f"window is {self.window} ns, guard is {self.guard} ns; make the window longer than the guard"
            )
        if not 0 <= self.lease_margin < self.lease:
            raise ValueError(
                f"lease_margin is {self.lease_margin} s of a lease of {self.lease} s; it must be a part of it"
            )
        if self.renew_pause >= self.lease - self.lease_margin:
            raise ValueError(
                f"renew_pause is {self.renew_pause} s; a lease of {self.lease} s with a margin of "
                f"{self.lease_margin} s would run out first: renew sooner"
            )
