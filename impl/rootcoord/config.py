"""Thresholds of the root coordinator's time tick, with the defaults of Milvus."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RootCoordConfig:
    """Configuration.

    ddl_tick_seconds: period of the DDL source's reports (200 ms).
    dummy_seconds: period of the dummy DDL task (200 ms).
    round_capacity: rounds in the queue of the sender (1; it was 16 until 2023, B9).
    """

    ddl_tick_seconds: float = 0.2
    dummy_seconds: float = 0.2
    round_capacity: int = 1

    def __post_init__(self) -> None:
        for name in ("ddl_tick_seconds", "dummy_seconds"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be a positive number of seconds")
        if self.round_capacity < 1:
            raise ValueError(f"round_capacity is {self.round_capacity}; it must be at least 1")
