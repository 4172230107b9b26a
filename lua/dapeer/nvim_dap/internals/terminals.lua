-- The terminals that nvim-dap opens for programs.
local M = {}

local guards = require('dapeer.nvim_dap.internals.guards')

---While `work` runs, and only then, all programs in terminals are started by the function that `wrap` returns.
---@param wrap fun(start: function): function
---@param work fun()
function M.while_starting(wrap, work)
  if not guards.usable('runInTerminal') then
    return work()
  end
  local jobstart, termopen = vim.fn.jobstart, vim.fn.termopen
  vim.fn.jobstart, vim.fn.termopen = wrap(jobstart), wrap(termopen)
  local ok, err = pcall(work)
  vim.fn.jobstart, vim.fn.termopen = jobstart, termopen
  if not ok then
    error(err, 0)
  end
end

---While `work` runs, and only then, a session's terminal is put into the buffer that `make` gives, and no window.
---@param session dap.Session
---@param make fun(): integer
---@param work fun()
function M.while_opening(session, make, work)
  if not guards.usable('defaults') then
    return work()
  end
  local defaults = require('dap').defaults[session.config.type]
  local command, focus = rawget(defaults, 'terminal_win_cmd'), rawget(defaults, 'focus_terminal')
  rawset(defaults, 'focus_terminal', false)
  rawset(defaults, 'terminal_win_cmd', make)
  local ok, err = pcall(work)
  rawset(defaults, 'terminal_win_cmd', command)
  rawset(defaults, 'focus_terminal', focus)
  if not ok then
    error(err, 0)
  end
end

return M
