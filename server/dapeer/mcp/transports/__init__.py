"""How clients are connected: stdio, HTTP, a unix socket."""
