"""Other programs that dapeer works together with, each in a module or folder that knows no other one.

What one may bring is `mcp/server/integration`.
"""
