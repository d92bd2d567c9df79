"""The gate: which judge runs on which entry, and the comparison with what the manifest expects."""
