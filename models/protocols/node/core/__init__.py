"""What lies under all rooms of the implementation, by itself: calls, tasks, values and configurations."""
