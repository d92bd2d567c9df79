"""Suggested lemmas: candidates from templates, kept if reachable states and induction allow."""
