--- All uses and patches of nvim-dap's internals, which nvim-dap may change at any time.
---
--- `places.lua` says of each what nvim-dap must be like there, and what is lost where the place is left alone.
local guards = require('dapeer.nvim_dap.internals.guards')

local M = { list = guards.list, rows = guards.rows, report_by = guards.report_by, left_alone = guards.left_alone }
M.frames = require('dapeer.nvim_dap.internals.frames')
M.terminals = require('dapeer.nvim_dap.internals.terminals')

---@param loaded fun(dap: table)  called with nvim-dap once it is loaded
function M.when_loaded(loaded)
  if package.loaded['dap'] or not guards.is_switched_off('loading') then
    require('dapeer.nvim_dap.internals.loading').when_loaded(loaded)
  end
end

---@param loaded fun()  called before nvim-dap makes its first session: it loads what it needs for that only then
function M.when_debugging(loaded)
  if guards.is_switched_off('loading') then
    pcall(require, 'dap.session')
  end
  require('dapeer.nvim_dap.internals.loading').when_debugging(loaded)
end

-- Messages ---------------------------------------------------------------------------------------
---Hear what nvim-dap reads, in the callbacks of luv in which it does.
---@param reading fun(): fun(body: string)  called for each new read loop; what it returns gets the messages
---@param beginning fun(session: dap.Session)  a session begins: the read loop made last is its own
---@return string? problem
function M.on_reading(reading, beginning)
  local usable, problem = guards.usable('messages')
  if not usable then
    return problem
  end
  local rpc, Session = require('dap.rpc'), require('dap.session')
  local create_read_loop, initialize = rpc.create_read_loop, Session.initialize
  rpc.create_read_loop = function(handle_body, ...)
    local _, notice = guards.try('messages', reading)
    return create_read_loop(function(body)
      guards.try('messages', notice, body)
      return handle_body(body)
    end, ...)
  end
  Session.initialize = function(session, config, ...)
    -- Until 0.9 nvim-dap sets it only now.
    session.config = session.config or config
    guards.try('messages', beginning, session)
    return initialize(session, config, ...)
  end
end

---Stand around what nvim-dap does with a message, its listeners included: it does that in an event of its own.
---@param around fun(session: dap.Session, body: string): (fun(work: fun()))?
---@param put_off fun(session: dap.Session, body: string, handle: fun()): boolean  whether it calls `handle` later
function M.around_messages(around, put_off)
  if not guards.usable('handling') then
    return
  end
  local Session = require('dap.session')
  local handle_body = Session.handle_body
  local function handle(session, body, ...)
    local _, during = guards.try('handling', around, session, body)
    if not during then
      return handle_body(session, body, ...)
    end
    local schedule = vim.schedule
    vim.schedule = function(work)
      schedule(guards.before('handling', work, function(stock)
        return function()
          during(stock)
        end
      end))
    end
    local done, problem = pcall(handle_body, session, body, ...)
    vim.schedule = schedule
    if not done then
      error(problem, 0)
    end
  end
  Session.handle_body = function(session, body, ...)
    local given = vim.F.pack_len(...)
    local _, later = guards.try('handling', put_off, session, body, function()
      return handle(session, body, vim.F.unpack_len(given))
    end)
    if not later then
      return handle(session, body, ...)
    end
  end
end

---Hear what nvim-dap writes to a session's adapter.
---@param session dap.Session
---@param notice fun(text: string)  the message in its frame
---@return boolean  whether it can
function M.on_writing(session, notice)
  local client = session.client
  if not guards.usable('messages', nil, guards.lacks(client, 'write')) then
    return false
  end
  local write = client.write
  client.write = function(text, ...)
    -- The adapter gets it before anybody else takes the processor.
    local written = vim.F.pack_len(write(text, ...))
    guards.try('messages', notice, text)
    return vim.F.unpack_len(written)
  end
  return true
end

---Hear of each table of listeners that nvim-dap makes for a key that it looks up.
---@param dap table
---@param made fun(key: string, listeners: table)
function M.on_listeners(dap, made)
  if not guards.usable('listeners', dap) then
    return
  end
  local meta = getmetatable(dap.listeners.before)
  local index = meta.__index
  meta.__index = function(listeners, key)
    local found = index(listeners, key)
    if type(found) == 'table' and type(key) == 'string' then
      guards.try('listeners', made, key, found)
    end
    return found
  end
end

-- Breakpoints and starts -------------------------------------------------------------------------

---Hear of changes of breakpoints, before they are made.
---@param changed fun(how: string)  the name of nvim-dap's function
function M.on_breakpoints(changed)
  if not guards.usable('breakpoints') then
    return
  end
  local breakpoints = require('dap.breakpoints')
  for _, name in ipairs({ 'toggle', 'remove', 'remove_by_id', 'clear' }) do
    local original = breakpoints[name]
    if type(original) == 'function' then
      breakpoints[name] = function(...)
        guards.try('breakpoints', changed, name)
        return original(...)
      end
    end
  end
end

---Stand in front of functions of a module.
---@param module table
---@param names string[]
---@param wrap fun(original: function): function
---@return fun() restore
local function stand_before(module, names, wrap)
  local fronts = {}
  for _, name in ipairs(names) do
    local original = module[name]
    if type(original) == 'function' then
      local ours = guards.before('starts', original, wrap)
      fronts[name] = { original = original, ours = ours }
      module[name] = ours
    end
  end
  return function()
    for name, front in pairs(fronts) do
      -- Somebody who stands in front of us by now calls us still, and we pass everything on.
      if module[name] == front.ours then
        module[name] = front.original
      end
    end
  end
end

---Follow what nvim-dap starts, and its messages to the person meanwhile, until `restore` is called.
---@param dap table
---@param notify fun(original: function): function  takes the place of its notifications
---@param start fun(original: function): function  takes the place of `launch` and `attach`
---@return fun() restore
function M.while_starting(dap, notify, start)
  if not guards.usable('starts', dap) then
    return function() end
  end
  local restore_notify = stand_before(require('dap.utils'), { 'notify' }, notify)
  local restore_start = stand_before(dap, { 'launch', 'attach' }, start)
  return function()
    restore_notify()
    restore_start()
  end
end

---Stand before what nvim-dap sends to an adapter that is ready, after which the program runs.
---@param wait fun(session: dap.Session, start: fun()): boolean  whether it calls `start` later
function M.before_configuring(wait)
  if not guards.usable('initialized') then
    return
  end
  local Session = require('dap.session')
  local original = Session.event_initialized
  Session.event_initialized = function(session, ...)
    local given = vim.F.pack_len(...)
    local function start()
      original(session, vim.F.unpack_len(given))
    end
    local _, waits = guards.try('initialized', wait, session, start)
    if not waits then
      start()
    end
  end
end

---Ask a program that starts for these exceptions instead of nvim-dap's defaults.
---@param session dap.Session
---@param arguments table  of `setExceptionBreakpoints`; nvim-dap's own function does not take all that an adapter may
function M.set_exceptions_once(session, arguments)
  if not guards.usable('filters') then
    return
  end
  local mutable = session --[[@as table]]
  mutable.set_exception_breakpoints = function(self, _, _, on_done)
    mutable.set_exception_breakpoints = nil
    self:request('setExceptionBreakpoints', arguments, function(err)
      if err then
        require('dap.utils').notify('Error setting exception breakpoints: ' .. tostring(err), vim.log.levels.ERROR)
      end
      if on_done then
        on_done()
      end
    end)
  end
end

-- Requests of adapters ---------------------------------------------------------------------------

---Stand in front of nvim-dap's answer to a request of a session's adapter.
---@param session dap.Session
---@param command 'runInTerminal'|'startDebugging'
---@param wrap fun(handler: function): function
---@return boolean  whether it can be done
function M.on_reverse_request(session, command, wrap)
  local handlers = vim.tbl_get(session, 'handlers', 'reverse_requests')
  if not guards.usable(command, nil, guards.lacks(handlers, command)) then
    return false
  end
  handlers[command] = guards.before(command, handlers[command], wrap)
  return true
end

-- State of sessions -------------------------------------------------------------------------------

---Do what nvim-dap's `clear_running` does, which a raw request bypasses: nvim-dap would believe that the session is
---still stopped, and resume by itself the next thread that stops. Legal in a luv callback.
---@param session dap.Session
---@param thread_id integer?
---@return fun(): boolean undo  for a request that was refused; whether it has undone it
function M.mark_running(session, thread_id)
  local mutable = session --[[@as table]]
  if not guards.usable('running', nil, type(mutable.threads) ~= 'table' and 'a session had no threads') then
    return function()
      return false
    end
  end
  local stopped = mutable.stopped_thread_id
  local thread = mutable.threads[thread_id or stopped]
  mutable.stopped_thread_id = nil
  if thread then
    thread.stopped = false
  end
  return function()
    if mutable.stopped_thread_id then
      return false
    end
    mutable.stopped_thread_id = stopped
    if thread then
      thread.stopped = true
    end
    return true
  end
end

---Add to the capabilities of a session.
---@param session dap.Session
---@param name string
function M.add_capability(session, name)
  local mutable = session --[[@as table]]
  local known = mutable.capabilities or {}
  if guards.usable('capabilities', nil, type(known) ~= 'table' and 'those of a session are no table') then
    mutable.capabilities = vim.tbl_extend('force', known, { [name] = true })
  end
end

return M
