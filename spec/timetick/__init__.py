"""Sessions, reports, rounds and ticks of the root coordinator: the watermark."""

from tidemark.spec.timetick.proof import TimeTick as TimeTick
