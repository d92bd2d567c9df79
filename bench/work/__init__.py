"""What runs in a fresh process: each function does one repetition of one side."""
