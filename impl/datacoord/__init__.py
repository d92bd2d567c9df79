"""The data coordinator: channel owners, channel checkpoints, binlog records, flush requests."""
