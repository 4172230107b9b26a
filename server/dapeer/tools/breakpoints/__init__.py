"""The tools that say where a program stops or collects."""
