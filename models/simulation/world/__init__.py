"""The simulated environment: processes, network, storage, and what may happen next."""
