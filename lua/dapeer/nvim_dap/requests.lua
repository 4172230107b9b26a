--- How a core's requests go out through nvim-dap, so that nvim-dap's own picture of the session stays true.
---
--- Every function here is legal in a luv callback: that is where requests arrive while Neovim waits
--- for a key. What needs the main thread is scheduled, and so catches up when the key has come.
local M = {}

local commands = require('dapeer.nvim_dap.commands')

---@param work fun()
local function on_main(work)
  if vim.in_fast_event() then
    vim.schedule(work)
  else
    work()
  end
end

---nvim-dap takes a session for running, and its sign goes.
---@param session dap.Session
---@param thread_id integer?
---@return fun() undo for a request that was refused
local function mark_running(session, thread_id)
  local frame, group = session.current_frame, session.sign_group
  local mark_stopped = require('dapeer.nvim_dap.internals').mark_running(session, thread_id)
  on_main(function()
    -- By the time that Neovim wakes, nvim-dap may have shown the next stop already.
    if not session.stopped_thread_id and group then
      pcall(vim.fn.sign_unplace, group)
    end
  end)
  return function()
    if not mark_stopped() then
      return
    end
    if frame then
      on_main(function()
        require('dapeer.nvim_dap.showing').place_sign(session, frame)
      end)
    end
  end
end

---Send a core's request to the adapter of a session.
---@param session dap.Session
---@param command string
---@param arguments table
---@param latest_stop fun(): any  of the session; nil where it is not known
function M.send(session, command, arguments, latest_stop)
  local stop = latest_stop()
  if commands.DRIVES[command] then
    require('dapeer.nvim_dap.follow').drive(session, arguments)
  end
  if command == 'setExceptionBreakpoints' then
    require('dapeer.nvim_dap.exceptions').own(arguments)
  end
  local undo = commands.RESUMES[command] and mark_running(session, arguments.threadId)
  session:request(command, arguments, function(err)
    if err and undo then
      undo()
    elseif undo and stop and latest_stop() == stop then
      -- Where Neovim was held up, nvim-dap has come to the stop only now; adapters need not report its end.
      mark_running(session, arguments.threadId)
    elseif command == 'disconnect' and not session.closed then
      session:close()
    elseif not err then
      require('dapeer.nvim_dap.effects').after(session, command, arguments)
    end
  end)
end

return M
