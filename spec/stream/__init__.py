"""A consumer of one channel: packs between ticks, and a seek after a crash."""

from tidemark.spec.stream.proof import Stream as Stream
