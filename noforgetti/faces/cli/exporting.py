"""`export`: the memory in other forms."""
