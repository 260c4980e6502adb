"""The MCP server: the same memory for every agent that speaks the protocol, over standard input and output."""
