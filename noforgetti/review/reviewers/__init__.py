"""Reviewers: `rules` (offline), `command` (a program), `http` (an endpoint), `host` (the session's own
model)."""
