"""Sessions under leases: one coordinator lists them, watches them, and fences those that have ended."""

from tidemark.spec.sessions.proof import Sessions as Sessions
