"""The benchmark in its shortest form."""
