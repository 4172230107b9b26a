-- Where this plugin reaches into nvim-dap: each place by its name, what it must be like, and what is lost where it is not.
local M = {}

---@class dapeer.Place
---@field name string                             where it is
---@field lost string                             what does not work without it
---@field check? fun(dap: table): string?         why it cannot be used

---What a table has not, of what is needed.
---@param holder any
---@param ... string  names of functions
---@return string?
function M.lacks(holder, ...)
  for _, name in ipairs({ ... }) do
    if type(holder) ~= 'table' or type(holder[name]) ~= 'function' then
      return ('there is no function %s'):format(name)
    end
  end
end

---@type table<string, dapeer.Place>
M.all = {
  loading = {
    name = 'package.preload.dap and that of dap.session until they are loaded',
    lost = 'the assistant does not see what is debugged in Neovim',
    check = function()
      local awaited = require('dapeer.nvim_dap.internals.loading').is_awaited()
      return not awaited and 'neither has setup() been called, nor has a core joined' or nil
    end,
  },
  messages = {
    name = 'rpc.create_read_loop, Session.initialize, client.write',
    lost = 'sessions do not answer the assistant while Neovim waits for a key',
    check = function()
      return M.lacks(require('dap.rpc'), 'create_read_loop') or M.lacks(require('dap.session'), 'initialize')
    end,
  },
  handling = {
    name = 'Session.handle_body, and vim.schedule while it runs',
    lost = 'other plugins may take the person out of Insert mode when the assistant starts a program',
    check = function()
      return M.lacks(require('dap.session'), 'handle_body')
    end,
  },
  listeners = {
    name = 'the metatable of listeners.before',
    lost = "the assistant does not see an adapter's own events in sessions that began before setup()",
    check = function(dap)
      local meta = getmetatable(dap.listeners.before)
      return not (meta and type(meta.__index) == 'function') and 'it has no function __index' or nil
    end,
  },
  breakpoints = {
    name = 'breakpoints.toggle, remove and clear',
    lost = "the assistant sees Neovim's breakpoints only when the text changes",
    check = function()
      return M.lacks(require('dap.breakpoints'), 'toggle', 'remove', 'clear')
    end,
  },
  starts = {
    name = 'dap.launch, dap.attach, utils.notify',
    lost = 'the assistant is not told why a program that it starts here does not start',
    check = function(dap)
      return M.lacks(dap, 'launch', 'attach') or M.lacks(require('dap.utils'), 'notify')
    end,
  },
  filters = {
    name = 'Session.set_exception_breakpoints',
    lost = 'exception filters that were chosen do not apply to programs that start here',
    check = function()
      return M.lacks(require('dap.session'), 'set_exception_breakpoints')
    end,
  },
  initialized = {
    name = 'Session.event_initialized',
    lost = 'what a program that was started in Neovim does first is not collected, and types of exceptions stop none',
    check = function()
      return M.lacks(require('dap.session'), 'event_initialized')
    end,
  },
  runInTerminal = {
    name = 'handlers.reverse_requests.runInTerminal, and vim.fn.jobstart while it runs',
    lost = 'the assistant does not see what a program prints in its terminal, and cannot type there',
  },
  running = {
    name = 'stopped_thread_id and threads of a session',
    lost = 'a program that the assistant has resumed looks stopped in Neovim',
  },
  defaults = {
    name = 'dap.defaults, terminal_win_cmd and focus_terminal while a terminal opens',
    lost = 'a terminal that the assistant has opened takes the focus',
    check = function(dap)
      local defaults = dap.defaults
      local fallback = type(defaults) == 'table' and defaults.fallback
      return (type(fallback) ~= 'table' or fallback.terminal_win_cmd == nil) and 'there is no terminal_win_cmd' or nil
    end,
  },
  capabilities = {
    name = 'capabilities of a session',
    lost = 'the assistant cannot type into the terminal of a program',
  },
  startDebugging = {
    name = 'handlers.reverse_requests.startDebugging',
    lost = 'a child process that an adapter announces at a port waits for a debugger',
  },
  scopes = {
    name = 'Session._request_scopes',
    lost = 'Neovim does not show values that the assistant has changed before the next stop',
    check = function()
      return M.lacks(require('dap.session'), '_request_scopes')
    end,
  },
  frames = {
    name = 'Session._frame_set',
    lost = 'the cursor in Neovim does not follow a stop that came while keys were pressed',
    check = function()
      return M.lacks(require('dap.session'), '_frame_set', '_request_scopes')
    end,
  },
  exceptions = {
    name = 'Session._show_exception_info',
    lost = "an exception's text is not shown in Neovim at a stop to which the cursor does not go",
    check = function()
      local Session = require('dap.session')
      -- Before nvim-dap 0.10 it took other arguments.
      return M.lacks(Session, '_show_exception_info')
        or (debug.getinfo(Session._show_exception_info, 'u').nparams ~= 4 and 'it takes other arguments')
        or nil
    end,
  },
}

return M
