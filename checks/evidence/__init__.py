"""The same claims, judged on what a real system leaves behind: logs, store, broker, clients, traces."""
