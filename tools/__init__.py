"""Commands for engineers of dapeer, such as what makes its pages: `python -m tools.NAME` runs one."""
