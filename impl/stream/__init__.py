"""The message stream: what a consumer makes of a channel's log, pack after pack."""
