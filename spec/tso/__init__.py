"""The timestamp oracle: windows saved ahead, a leader under a lease, batches."""

from tidemark.spec.tso.proof import Tso as Tso
