"""`noforgetti mcp`: the MCP server."""
