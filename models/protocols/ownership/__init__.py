"""What binds the ownership of a channel to the judges."""
