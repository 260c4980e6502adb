"""The resident bridge between a host and its project's memory: JSON-RPC lines over stdin and stdout."""
