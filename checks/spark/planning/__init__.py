"""What a distributed search costs, and how large a cluster it needs."""
