"""In Python: debugpy's adapter, launcher and test runners; `dapeer_debuggee` is inside of the program."""
