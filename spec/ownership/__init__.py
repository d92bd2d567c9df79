"""Ownership of a virtual channel: whose saves the coordinator takes, and how a channel ends."""

from tidemark.spec.ownership.proof import Ownership as Ownership
