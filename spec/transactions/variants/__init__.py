"""Specifications other than the base: finer steps, other rules, larger pictures."""
