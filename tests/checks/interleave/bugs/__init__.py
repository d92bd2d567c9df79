"""Public bugs of asyncio and of libraries on it, rewritten small."""
