-- dapeer's registry under the name of mcp-tools.nvim's, with what that had besides.
local M = setmetatable({}, {
  __index = function(_, name)
    return require('dapeer.registry')[name]
  end,
})

---The tools.
---@return table<string, dapeer.Tool>
function M.list()
  local tools = {}
  for _, tool in ipairs(require('dapeer.registry').list()) do
    tools[tool.name] = tool
  end
  return tools
end

---@param name string
---@return boolean
function M.has(name)
  return require('dapeer.registry').find(name) ~= nil
end

---@return integer
function M.count()
  return #require('dapeer.registry').list()
end

return M
