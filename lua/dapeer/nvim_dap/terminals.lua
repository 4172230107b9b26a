--- The terminals that nvim-dap opens for programs (`runInTerminal`): their output is sent to the cores as
--- the program's output, and they can type.
---
--- nvim-dap starts such a program by `jobstart` or `termopen`, without callbacks. While its handler runs, and only
--- then, these two are ours, and ask for the output, too.
local M = {}

---The mark of what comes from a terminal; no adapter knows it.
local MARK = 'dapeerTerminal'

---@type table<number, integer> jobs by session.id
local jobs = require('dapeer.kept').part('terminals')

---@param session dap.Session
---@param event string
---@param body table
local function say(session, event, body)
  require('dapeer.nvim_dap.tap').say(session, event, body)
  require('dapeer.nvim_dap.listeners').say(session, event, body)
end

---Return what a person would read: neither colours nor titles, and plain line ends.
---@param text string
---@return string
local function plain(text)
  local read = text:gsub('\27%][^\7\27]*\7', ''):gsub('\27%[[%d;?]*%a', ''):gsub('\r+\n', '\n')
  return read
end

---@param session dap.Session
---@param start function
---@return function
local function listened(session, start)
  return function(command, opts)
    local job = start(
      command,
      vim.tbl_extend('force', opts or {}, {
        on_stdout = function(_, data)
          local text = plain(table.concat(data, '\n'))
          if text ~= '' then
            pcall(say, session, 'output', { category = 'stdout', output = text, [MARK] = true })
          end
        end,
      })
    )
    if job > 0 then
      jobs[session.id] = job
      require('dapeer.nvim_dap.internals').add_capability(session, MARK)
      pcall(say, session, 'capabilities', { capabilities = { [MARK] = true } })
    end
    return job
  end
end

---@param handler function
---@return function
local function following(handler)
  return function(session, request)
    require('dapeer.nvim_dap.internals').terminals.while_starting(function(start)
      return listened(session, start)
    end, function()
      require('dapeer.nvim_dap.follow').open_terminal(session, function()
        handler(session, request)
      end)
    end)
  end
end

---Type into the terminal of a session's program.
---@param id integer the session
---@param text string
---@return string? err
function M.type(id, text)
  local job = jobs[id]
  if not job or not pcall(vim.api.nvim_chan_send, job, text) then
    return 'its terminal is gone'
  end
end

---@param dap table
function M.install(dap)
  dap.listeners.before.initialize['dapeer.terminals'] = function(session)
    if require('dapeer.nvim_dap.internals').on_reverse_request(session, 'runInTerminal', following) then
      session.on_close['dapeer.terminals'] = function()
        jobs[session.id] = nil
      end
    end
  end
end

return M
