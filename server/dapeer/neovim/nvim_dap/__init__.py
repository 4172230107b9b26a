"""nvim-dap's sessions as transports."""
