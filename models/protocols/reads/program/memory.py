"""What influences the future of a query node, beyond what is observed of it."""

from collections.abc import Hashable

from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.pipeline import ShardPipeline
from tidemark.impl.stream.consumer import ChannelConsumer


def memory_of_shard(delegator: ShardDelegator, pipeline: ShardPipeline) -> Hashable:
    """Return what influences the future of a channel at a node, beyond its view and its reads."""
    segments = [
        (name, repr(sorted(segment.rows.items())), repr(sorted(segment.deletes.items())))
        for kind in (delegator.growing, delegator.sealed)
        for name, segment in sorted(kind.items())
    ]
    consumer = pipeline.consumer
    assert isinstance(consumer, ChannelConsumer)  # no dispatchers here: spec/dispatch has its own program
    return (
        tuple(segments),
        tuple(sorted(delegator.growing)),
        tuple(delegator.deletes.kept),
        tuple(sorted(delegator.excluded.upto.items())),
        repr(pipeline.waiting),
        (consumer.read, consumer.last, repr(consumer.buffered)),
        delegator.service_time.closed,
    )
