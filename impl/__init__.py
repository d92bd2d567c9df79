"""Reference implementation, in asyncio, of the flush and channel checkpoints of a log-structured database."""
