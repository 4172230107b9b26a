"""dapeer: a debugger that a person and their AI share."""

__version__ = "0.1.0"
