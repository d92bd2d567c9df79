"""Errors of the implementation. Each message names the offending value and what to do."""

from __future__ import annotations


class ImplementationError(Exception):
    """Base of every error that this package raises on purpose."""


class RpcError(ImplementationError):
    """A remote call failed, or its outcome is unknown. The callee may have carried it out."""


class RpcTimeoutError(RpcError):
    """No reply within the caller's deadline. The callee may still carry the call out."""


class StoreError(ImplementationError):
    """The object store or the metadata store failed in a way that a retry may cure."""


class UnknownChannelError(ImplementationError):
    """The node or the coordinator does not serve this channel."""


class NotOwnerError(ImplementationError):
    """The caller is not the node to which the channel is assigned."""


class ChannelDroppedError(ImplementationError):
    """The channel was dropped: no node can take it up, and nothing of it can be flushed (hazard 14)."""


class ChannelLivesError(ImplementationError):
    """The channel was not dropped, or not collected after that: it cannot be collected or created."""


class LateRowError(ImplementationError):
    """A row arrived for a segment whose flush has begun: the flush would not contain it."""


class SegmentMissingError(ImplementationError):
    """A sync task names a segment unknown to the metacache: its rows must not be counted as stored."""


class CorruptDataError(ImplementationError):
    """Stored bytes do not say what their writer promised."""


class TransactionOverError(ImplementationError):
    """The transaction is not open, or its time is over. This append of it is not in the log."""


class TransactionBusyError(ImplementationError):
    """A transaction cannot end while bodies of it are under way."""


class NotLeaderError(ImplementationError):
    """The oracle that was asked does not lead, or leads no longer."""


class NoTimestampError(ImplementationError):
    """The oracle found no free timestamp: it is not ready yet, or the counter is full."""


class SessionEndedError(ImplementationError):
    """The session of a process has run out: it must begin a new one, under a new number."""


class WatchCompactedError(ImplementationError):
    """The store of the sessions has forgotten a change that its watcher was not told of: list again."""


class UnknownSessionError(RpcError):
    """The root coordinator knows no session of the reporting source: the report was refused."""


class QueueFullError(ImplementationError):
    """The proxy's task queue holds as many tasks as it may."""


class ProxyClosedError(ImplementationError):
    """The proxy closes or is closed: it has not begun the task. Another proxy may."""


class ProxyEndedError(ImplementationError):
    """The proxy has ended with the task in its hands: the task may have been carried out, or still be."""


class CallerLeftError(ImplementationError):
    """The caller left before its task began: nothing of it was done.

    Milvus: TraceCtx
    """


class NotServableError(RpcError):
    """The replica cannot answer the read. Another replica may, or the same one later."""


class ReplicaClosedError(NotServableError):
    """The replica does not serve the channel: it is not loaded yet, or was released."""


class LagTooLargeError(NotServableError):
    """The guarantee lies so far above the service time that waiting for it makes no sense.

    Milvus: WrapErrTsLagTooLarge
    """


class ServiceTimeStalledError(NotServableError):
    """The service time did not move for too long while a read waited for it."""


class DeletesTrimmedError(ImplementationError):
    """The delete buffer no longer holds what a segment needs that is to be loaded."""


class TargetGoneError(ImplementationError):
    """The target was deregistered: its dispatchers send it no more packs."""


class CollectionError(ImplementationError):
    """A collection of this name exists already, or there is none."""


class SchemaMismatchError(ImplementationError):
    """The collection has changed since the schema was read that a write was made for: nothing is written.

    Milvus: ErrCollectionSchemaMismatch
    """


class WriteFailedError(ImplementationError):
    """A write was not carried out in full. Parts of it may be in the logs, or come to be there."""


class ClusterLockedError(ImplementationError):
    """Another process runs a cluster in this directory."""


class MessageTooLargeError(ImplementationError):
    """The log does not take a message of this size: it is not in the log and will not be."""


class LogCutError(ImplementationError):
    """What a reader asks for was cut off: it is in object storage."""


class TermEndedError(RpcError):
    """A later term of the log has begun: what the caller appends is refused."""


class TermClosedError(ImplementationError):
    """The streaming node is between two terms of its log. What was asked for was not begun."""


class UnknownOutcomeError(ImplementationError):
    """An append may be in the log or not. Its term is over: it is decided when the next one begins."""
