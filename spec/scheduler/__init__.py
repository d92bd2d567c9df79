"""The scheduler of a proxy: three queues, waiting callers, cancellation and close."""

from tidemark.spec.scheduler.proof import Scheduler as Scheduler
