"""Errors of the implementation. Each message names the offending value and what to do."""


class ImplementationError(Exception):
    """Base of every error that this package raises on purpose."""


class RpcError(ImplementationError):
    """A remote call failed, or its outcome is unknown. The callee may have carried it out."""


class RpcTimeoutError(RpcError):
    """The caller's deadline has passed without a reply. The callee may still carry the call out."""


class StoreError(ImplementationError):
    """The object store or the metadata store failed; a retry may succeed."""


class SaveFailedError(ImplementationError):
    """A save has failed as often as a node tries: the node ends itself, and another recovers its channels."""


class UnknownChannelError(ImplementationError):
    """The node or the coordinator does not serve this channel."""


class NotOwnerError(ImplementationError):
    """The caller is not the node to which the channel is assigned."""


class ChannelDroppedError(ImplementationError):
    """The channel was dropped: no node can take it up, and it cannot be flushed (hazard 14)."""


class ChannelLivesError(ImplementationError):
    """The channel was not dropped, or not collected after that: it cannot be collected or created."""


class LateRowError(ImplementationError):
    """A row arrived for a segment whose flush has begun: the flush would not contain it."""


class CorruptDataError(ImplementationError):
    """Stored bytes do not match their checksum or format."""


class TransactionOverError(ImplementationError):
    """The transaction is not open, or has expired. This append of it is not in the log."""


class TransactionBusyError(ImplementationError):
    """A transaction cannot end while bodies of it are under way."""


class NotLeaderError(ImplementationError):
    """This oracle does not lead."""


class NoTimestampError(ImplementationError):
    """The oracle found no free timestamp: it is not ready yet, or the counter is full."""


class SessionEndedError(ImplementationError):
    """The session of a process has ended: it must begin a new one, under a new number."""


class WatchCompactedError(ImplementationError):
    """The store of the sessions has forgotten changes that the watcher has not seen: list again."""


class UnknownSessionError(RpcError):
    """The root coordinator knows no session of the reporting source: the report was refused."""


class FollowedError(RpcError):
    """The root coordinator has been followed by a later one, which takes the reports of new sessions."""


class QueueFullError(ImplementationError):
    """The proxy's task queue holds as many tasks as it may."""


class ProxyClosedError(ImplementationError):
    """The proxy closes or is closed: it has not begun the task. Another proxy may."""


class ProxyEndedError(ImplementationError):
    """The proxy ended with the task unfinished: the task may have been carried out, or still be."""


class CallerLeftError(ImplementationError):
    """The caller left before its task began: the task had no effect.

    Milvus: TraceCtx
    """


class NotServableError(RpcError):
    """The replica cannot answer the read. Another replica may, or the same one later."""


class ReplicaClosedError(NotServableError):
    """The replica does not serve the channel: it is not loaded yet, or was released."""


class LagTooLargeError(NotServableError):
    """The guarantee is too far above the service time to wait for it.

    Milvus: WrapErrTsLagTooLarge
    """


class ServiceTimeStalledError(NotServableError):
    """The service time did not move for too long while a read waited for it."""


class DeletesTrimmedError(ImplementationError):
    """The delete buffer no longer holds deletes that a segment needs for its load."""


class TargetGoneError(ImplementationError):
    """The target was deregistered: its dispatchers send it no more packs."""


class CollectionError(ImplementationError):
    """A collection of this name exists already, or there is none."""


class SchemaMismatchError(ImplementationError):
    """The collection has changed since the client read the schema of a write: no row is written.

    Milvus: ErrCollectionSchemaMismatch
    """


class WriteFailedError(ImplementationError):
    """A write failed. Parts of it may be in the logs, or come to be there."""


class ClusterLockedError(ImplementationError):
    """Another process runs a cluster in this directory."""


class MessageTooLargeError(ImplementationError):
    """The log does not take a message of this size: it is not in the log and will not be."""


class LogCutError(ImplementationError):
    """The requested place was cut off: it is in object storage."""


class TermEndedError(RpcError):
    """A later term of the log has begun: appends of the caller are refused."""


class TermClosedError(ImplementationError):
    """The streaming node is between two terms of its log. The request was not begun."""


class UnknownOutcomeError(ImplementationError):
    """An append may be in the log or not. Its term has ended: the begin of the next one decides it."""
