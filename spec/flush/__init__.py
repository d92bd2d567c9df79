"""Write buffer, sync, flush and channel checkpoint of one virtual channel."""

from tidemark.spec.flush.proof import Flush as Flush
