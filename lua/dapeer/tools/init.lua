-- The tools that come with the plugin: a file of this folder is a group, which `setup{ tools = … }` switches.
local M = {}

M.GROUPS = {
  'diagnostics',
  'lsp',
  'undo',
  'editor',
  'documents',
  'diff',
  'interview',
  'exec',
  'test',
}

---@param group string
---@param report fun(group: string, sentence: string)
---@return dapeer.Tool[]
local function tools_of(group, report)
  local ok, tools = pcall(require, 'dapeer.tools.' .. group)
  if not ok then
    report(group, ('the tools of the group %s cannot be loaded: %s'):format(group, tools))
    return {}
  end
  for _, tool in ipairs(tools) do
    tool.group = group
  end
  return tools
end

---The tools of a group, whether it is switched on or not.
---@param group string
---@return dapeer.Tool[]
function M.group(group)
  return vim.tbl_contains(M.GROUPS, group) and tools_of(group, function() end) or {}
end

---The tools of the groups that are switched on.
---@param report fun(group: string, sentence: string)  takes what keeps a group from being loaded
---@return table<string, dapeer.Tool>
function M.built_in(report)
  local switched = require('dapeer.config').get().tools
  local found = {}
  for _, group in ipairs(M.GROUPS) do
    for _, tool in ipairs(switched[group] and tools_of(group, report) or {}) do
      found[tool.name] = tool
    end
  end
  return found
end

return M
