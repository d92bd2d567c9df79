"""The message stream: from a channel's log to packs."""
