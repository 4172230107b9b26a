"""What runs beside a debuggee or in it."""
