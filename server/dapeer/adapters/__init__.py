"""Debug adapters: what a definition says, whether one is installed, how one is started and ended."""
