"""noforgetti: a project's memory for coding agents, kept as a real git repository."""

__version__ = "0.1.0"
