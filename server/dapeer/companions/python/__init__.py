"""In Python: debugpy's adapter and launcher, and the runners of tests in Python; `in_debuggee` is what runs within the program."""
