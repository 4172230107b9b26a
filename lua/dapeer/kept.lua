-- What outlives a reload of the plugin (`package.loaded['dapeer…'] = nil`): who is attached, which tools
-- there are, which calls run. A module that holds such things gets its table here.
local M = {}

---@param name string
---@return table  the same one at every call, in every copy of this module
function M.table(name)
  local all = rawget(_G, '_dapeer_kept') or {}
  rawset(_G, '_dapeer_kept', all)
  all[name] = all[name] or {}
  return all[name]
end

return M
