"""Refinement mappings: from the implementation's live objects to the specification's state, and the check
of each step.
"""
