"""What binds each protocol to the judges: one folder a protocol."""
