"""Lemmas that are not written: candidates from templates, kept if reachable states and induction allow."""
