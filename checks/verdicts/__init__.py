"""What judges say: verdicts, counterexamples, results, errors, exit codes."""
