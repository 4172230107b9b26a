-- The options in force, as mcp-tools.nvim gave them.
local M = {}

---@param path? string  such as 'bridge.port'; nil: all options
---@return any
function M.get(path)
  local options = require('dapeer.config').get()
  return path == nil and options or vim.tbl_get(options, unpack(vim.split(path, '.', { plain = true })))
end

return M
