"""What stands in for the machine: clocks, random numbers, executors; and what a program sets itself."""
