-- dapeer under the name of mcp-tools.nvim, with what its users rely on: tools by name, and groups that are off until
-- they are named.
local M = setmetatable({}, {
  __index = function(_, name)
    return require('dapeer')[name]
  end,
})

---`require('dapeer').setup`, except that groups of tools that nobody has named are off.
---@param options? dapeer.Options
function M.setup(options)
  if not require('dapeer.needs').lacking() then
    require('dapeer.config').switch_unnamed_groups_off()
  end
  require('dapeer').setup(options)
end

---The tools written in Lua.
---@return table<string, dapeer.Tool>
function M.list_tools()
  return require('mcp-tools.registry').list()
end

return M
