"""The catalogue beside a reckoning: every edge may fail, clients come side by side, sessions come and go."""
