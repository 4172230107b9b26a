"""What starts bash-dap."""
