"""Buffers of deletes for each segment, beside level zero: their positions, filters, flush and drop."""

from tidemark.spec.delete_buffers.proof import DeleteBuffers as DeleteBuffers
