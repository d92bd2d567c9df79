"""What the reduction of a search rests on, looked at."""
