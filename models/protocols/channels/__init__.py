"""A data node with several channels and a coordinator, judged by their records and objects."""
