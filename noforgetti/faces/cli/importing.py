"""`import`: other products' memories, brought in."""
