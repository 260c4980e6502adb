"""`guidelines`: review preferences that were learned from skipped findings."""
