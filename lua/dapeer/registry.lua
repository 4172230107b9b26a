-- The tools that are written in Lua.
local M = {}

---@type table<string, dapeer.Tool>
local tools = {}

---@param tool any
---@return string?  what is wrong with it, as a sentence
local function flaw(tool)
  if type(tool) ~= 'table' then
    return 'A tool is a table with name, description and execute.'
  elseif type(tool.name) ~= 'string' or not tool.name:match('^[%w_-]+$') or #tool.name > 64 then
    return "A tool's name is 1 to 64 letters, digits, _ or -."
  elseif type(tool.description) ~= 'string' or tool.description == '' then
    return ('The tool %s needs a description: it is all that the assistant knows of it.'):format(
      tool.name
    )
  elseif type(tool.execute) ~= 'function' then
    return ('The tool %s needs execute = function(cb, args).'):format(tool.name)
  elseif tool.args ~= nil and type(tool.args) ~= 'table' then
    return ('The args of the tool %s are a table of name = { type = … }.'):format(tool.name)
  end
end

---Add a tool; one of the same name is replaced.
---@param tool dapeer.Tool
function M.register(tool)
  local problem = flaw(tool)
  if problem then
    error('dapeer: ' .. problem, 0)
  end
  tools[tool.name] = tool
end

---Remove a tool.
---@param name string
---@return boolean  whether there was one
function M.unregister(name)
  local there = tools[name] ~= nil
  tools[name] = nil
  return there
end

---The tools, by name.
---@return dapeer.Tool[]
function M.list()
  local list = vim.tbl_values(tools)
  table.sort(list, function(one, other)
    return one.name < other.name
  end)
  return list
end

return M
