"""The Debug Adapter Protocol: messages, types, transports, channel, handshake."""
