"""The tools as methods, for Python: in a person's script or test, and in `dap_script`."""
