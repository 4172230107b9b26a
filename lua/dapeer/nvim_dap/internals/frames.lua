-- What nvim-dap does with a frame, by private methods of its sessions.
local M = {}

local guards = require('dapeer.nvim_dap.internals.guards')

---Have nvim-dap ask for a frame's scopes and variables anew.
---@param session dap.Session
---@param frame dap.StackFrame
---@return boolean  whether it does
function M.request_scopes(session, frame)
  if not guards.usable('scopes') then
    return false
  end
  session:_request_scopes(frame)
  return true
end

---The frame that nvim-dap goes to at a stop.
---@param frames dap.StackFrame[]
---@return dap.StackFrame?
function M.top(frames)
  return vim.iter(frames):find(function(frame)
    return frame.source ~= nil
  end) or frames[1]
end

---Have nvim-dap go to a frame that it has the scopes of.
---@param session dap.Session
---@param frame dap.StackFrame
function M.jump(session, frame)
  if not guards.usable('frames') then
    return
  end
  local mutable = session --[[@as table]]
  mutable._request_scopes = function()
    mutable._request_scopes = nil
  end
  session:_frame_set(frame)
end

---Have nvim-dap show an exception's text.
---@param session dap.Session
---@param thread_id integer
---@param buffer integer
---@param frame dap.StackFrame
function M.show_exception(session, thread_id, buffer, frame)
  if guards.usable('exceptions') then
    require('dap.async').run(function()
      session._show_exception_info(session, thread_id, buffer, frame)
    end)
  end
end

return M
