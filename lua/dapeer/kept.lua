-- What outlives a reload of the plugin (`package.loaded['dapeer…'] = nil`), in one global table. Each part belongs to
-- one module, which alone reads and changes it; other modules ask that module.
local M = {}

---@alias dapeer.Part
---| 'calls'      registry.serving: the calls that run
---| 'claude'     integrations.claude.state
---| 'collecting' editor.collecting: where cores collect
---| 'collecting_at' editor.collecting: at which functions they do
---| 'cores'      rpc: who is attached
---| 'diffs'      diff.life: what is to be reviewed
---| 'exceptions' nvim_dap.exceptions: the filters that were chosen last
---| 'hook'       nvim_dap.internals.loading: whether nvim-dap is followed
---| 'knock'      core.knock: whether this Neovim has announced itself
---| 'life'       core.supervisor: the core of this Neovim
---| 'opencode'   integrations.opencode.state
---| 'problems'   registry.problems
---| 'published'  rpc: what every core gets
---| 'registry'   registry: the tools
---| 'scrolling'  diff.view: an option of the person's, for as long as diffs are shown
---| 'taps'       nvim_dap.tap: the sessions
---| 'terminals'  nvim_dap.terminals: the programs' jobs

local GLOBAL = '_dapeer_kept'

---Return a part, the same table at every call, in every copy of this module.
---@generic T: table
---@param name dapeer.Part
---@param initial? T  what it has at first; a key that an older copy of its module did not know is added
---@return T
function M.part(name, initial)
  local all = rawget(_G, GLOBAL) or {}
  rawset(_G, GLOBAL, all)
  local part = all[name] or {}
  all[name] = part
  for key, value in pairs(initial or {}) do
    if part[key] == nil then
      part[key] = value
    end
  end
  return part
end

---Whether the module of a part has been loaded in this Neovim, before a reload, too.
---@param name dapeer.Part
---@return boolean
function M.used(name)
  return (rawget(_G, GLOBAL) or {})[name] ~= nil
end

return M
