"""How clients find a server that runs."""
