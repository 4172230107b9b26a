"""How values are shown, without running code of the program."""
