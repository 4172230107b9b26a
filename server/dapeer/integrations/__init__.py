"""Other programs that dapeer works together with, each in a folder that knows no other one.

What one may bring is `mcp/server/integration`.
"""
