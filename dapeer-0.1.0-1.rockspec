-- made by `python -m tools.packages`
rockspec_format = '3.0'
package = 'dapeer'
version = '0.1.0-1'
source = {
  url = 'git+https://github.com/dapeer/dapeer',
  tag = 'v0.1.0',
}
description = {
  summary = 'A debugger that you and your AI share: an MCP server that speaks the Debug Adapter Protocol',
  homepage = 'https://github.com/dapeer/dapeer',
  license = 'MIT',
  labels = { 'neovim', 'dap', 'mcp' },
}
dependencies = { 'lua >= 5.1' }
build = {
  type = 'builtin',
  copy_directories = { 'doc', 'plugin' },
}
