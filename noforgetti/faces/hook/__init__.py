"""What a host's hook calls: `noforgetti hook HOST EVENT`, one JSON object in, one or nothing out, always status 0."""
