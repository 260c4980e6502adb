"""Consolidation of a branch: what a dream is shown, may answer and may change."""
