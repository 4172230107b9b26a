"""Put dapeer into the configuration of a client, and take it away again."""
