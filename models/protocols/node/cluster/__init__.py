"""Parts of an embedded cluster by themselves."""
