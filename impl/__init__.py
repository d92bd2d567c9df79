"""How it is done: the asyncio reference implementation."""
