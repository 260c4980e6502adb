"""`noforgetti hook`: what a host's hook calls."""
