"""The MCP server: a thin boundary that lets agents store and recall over stdio."""
