"""The clocks of the machine."""
