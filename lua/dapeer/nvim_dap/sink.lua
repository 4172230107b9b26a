--- What a core gets of a session's messages, and when.
---
--- A message wakes the core, which then takes the processor from Neovim, the adapter and the program in the midst of a step. So
--- what a core has no use for yet waits, and comes with what follows:
---   * a request waits for the next message of the adapter;
---   * from a resume on all waits until nvim-dap has stack and scopes of the stop, and asks for variables.
--- All is sent `LONGEST` after a request, or after the stop that it has led to; at once, when the core asks for something, and
--- where nvim-dap cannot look at a stop.
---
--- All of it is legal in a luv callback.
local M = {}

local commands = require('dapeer.nvim_dap.commands')

local uv = vim.uv

---Milliseconds that a request, or a stop, may wait for what follows.
local LONGEST = 10
---Bytes that may wait for a core that does not read, before it is given up.
local WAITING = 64 * 1024 * 1024

---@class dapeer.Sink
---@field pipe uv.uv_pipe_t
---@field ready boolean    the core knows the session's past
---@field held string[]    frames that wait
---@field timer uv.uv_timer_t
---@field looking boolean  the program runs, or nvim-dap looks at its stop

-- Messages of the adapter between a resume and what nvim-dap asks last, by command or event.
local BEFORE_VARIABLES = vim.tbl_extend('force', commands.RESUMES, {
  continued = true,
  module = true,
  output = true,
  scopes = true,
  stackTrace = true,
  stopped = true,
  thread = true,
  threads = true,
})

---@param pipe uv.uv_pipe_t
---@return dapeer.Sink
function M.new(pipe)
  return { pipe = pipe, ready = false, held = {}, timer = assert(uv.new_timer()), looking = false }
end

---Send what waits.
---@param sink dapeer.Sink
function M.flush(sink)
  sink.looking = false
  sink.timer:stop()
  if #sink.held > 0 then
    local held = sink.held
    sink.held = {}
    sink.pipe:write(held)
  end
end

---@param sink dapeer.Sink
local function wait(sink)
  sink.timer:start(LONGEST, 0, function()
    M.flush(sink)
  end)
end

---Send a frame behind all that waits.
---@param sink dapeer.Sink
---@param frame string
function M.send(sink, frame)
  table.insert(sink.held, frame)
  M.flush(sink)
end

---Take in a message from nvim-dap to its adapter.
---@param sink dapeer.Sink
---@param command string
---@param frame string
function M.request(sink, command, frame)
  table.insert(sink.held, frame)
  if sink.looking and command == 'variables' then
    return M.flush(sink)
  end
  sink.looking = sink.looking or commands.RESUMES[command] or false
  if not sink.timer:is_active() then
    wait(sink)
  end
end

---Take in a message from the adapter.
---@param sink dapeer.Sink
---@param name string?  its event, or the command that it answers
---@param frame string
function M.message(sink, name, frame)
  table.insert(sink.held, frame)
  if not (sink.looking and BEFORE_VARIABLES[name]) then
    M.flush(sink)
  elseif name == 'stopped' then
    if vim.api.nvim_get_mode().blocking then
      M.flush(sink)
    else
      wait(sink)
    end
  end
end

---Whether the core reads what it gets.
---@param sink dapeer.Sink
---@return boolean
function M.is_read(sink)
  return sink.pipe:get_write_queue_size() <= WAITING
end

---Hang up; what waits is not sent.
---@param sink dapeer.Sink
function M.close(sink)
  for _, handle in ipairs({ sink.timer, sink.pipe }) do
    if not handle:is_closing() then
      handle:close()
    end
  end
end

---Say last that nvim-dap has closed the session, and hang up.
---@param sink dapeer.Sink
---@param frame string
function M.finish(sink, frame)
  if sink.pipe:is_closing() then
    return
  end
  M.send(sink, frame)
  local ends = sink.pipe:shutdown(function()
    M.close(sink)
  end)
  if not ends then
    M.close(sink)
  end
end

return M
