--- Has a program wait before its first line until the cores have told it what it collects, and how its adapter is asked
--- for exceptions of a type.
local M = {}

---Milliseconds after which it waits no longer.
local PATIENCE = 3000

---@class dapeer.WaitingStart
---@field cores table<integer, true>  those that have not told it yet, by channel
---@field session dap.Session
---@field go fun()

---@type table<number, dapeer.WaitingStart>  by session id
local waiting = {}

---@param id integer
local function go(id)
  local start = waiting[id]
  waiting[id] = nil
  if start then
    start.go()
  end
end

---@param session dap.Session
---@param start fun()  has nvim-dap go on
---@return boolean  whether it is called later
local function wait(session, start)
  local cores = {}
  for _, channel in ipairs(require('dapeer.editor.collecting').channels()) do
    cores[channel] = true
  end
  if require('dapeer.nvim_dap.exceptions').need_a_core(session) then
    for _, core in ipairs(require('dapeer.rpc').attached()) do
      cores[core.channel] = true
    end
  end
  if not next(cores) then
    return false
  end
  waiting[session.id] = { cores = cores, session = session, go = start }
  vim.defer_fn(function()
    go(session.id)
  end, PATIENCE)
  return true
end

---A core has told a program what it collects.
---@param channel integer  the core's
---@param id integer       the session's
---@param exceptions table|vim.NIL  the arguments of `setExceptionBreakpoints`
function M.ready(channel, id, exceptions)
  local start = waiting[id]
  if start then
    if exceptions ~= vim.NIL then
      require('dapeer.nvim_dap.exceptions').heed(start.session, exceptions)
    end
    start.cores[channel] = nil
    if not next(start.cores) then
      go(id)
    end
  end
end

function M.install()
  require('dapeer.nvim_dap.internals').before_configuring(wait)
end

return M
