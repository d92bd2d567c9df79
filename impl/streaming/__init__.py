"""The streaming node of 2.6: it owns the log of a channel, gives timestamps, writes ticks, and flushes."""
