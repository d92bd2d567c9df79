"""Ports of the simulated world that the programs of several protocols use."""
