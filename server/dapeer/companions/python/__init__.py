"""In Python: debugpy's adapter and launcher, runners of Python tests; `in_debuggee`: in the program."""
