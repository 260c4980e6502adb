"""Real Pi against a scripted model: the extension, its installer, and the lab for end-to-end tests."""
