"""Stand-ins for the bridge, run as programs of their own."""
