--- All uses and patches of nvim-dap's internals, which nvim-dap may change at any time.
---
--- Each place has a name, what it must be like, and what is lost where it is not like that (`places.lua`). Nothing else
--- is lost then: the place is left alone. `:checkhealth dapeer` lists them.
local M = {}

local places = require('dapeer.nvim_dap.internals.places')

M.list = places.list
M.when_loaded = require('dapeer.nvim_dap.internals.loading').when_loaded

-- Messages ---------------------------------------------------------------------------------------

---Hear what nvim-dap reads, in the callbacks of luv in which it does.
---@param reading fun(): fun(body: string)  called for each new read loop; what it returns gets the messages
---@param beginning fun(session: dap.Session)  a session begins: the read loop made last is its own
---@return string? problem
function M.on_reading(reading, beginning)
  local problem = places.problem('messages')
  if problem then
    return problem
  end
  local rpc, Session = require('dap.rpc'), require('dap.session')
  local create_read_loop, initialize = rpc.create_read_loop, Session.initialize
  rpc.create_read_loop = function(handle_body, ...)
    local heard = reading()
    return create_read_loop(function(body)
      pcall(heard, body)
      return handle_body(body)
    end, ...)
  end
  Session.initialize = function(session, config, ...)
    -- Until 0.9 nvim-dap sets it only now.
    session.config = session.config or config
    pcall(beginning, session)
    return initialize(session, config, ...)
  end
end

---Hear what nvim-dap writes to a session's adapter.
---@param session dap.Session
---@param heard fun(text: string)  the message in its frame
---@return boolean  whether it can be heard
function M.on_writing(session, heard)
  local client = session.client
  if places.lacks(client, 'write') then
    places.miss('messages', 'a session had no client.write')
    return false
  end
  local write = client.write
  client.write = function(text, ...)
    -- The adapter gets it before anybody else takes the processor.
    local written = vim.F.pack_len(write(text, ...))
    pcall(heard, text)
    return vim.F.unpack_len(written)
  end
  return true
end

---Hear of each table of listeners that nvim-dap makes for a key that it looks up.
---@param dap table
---@param made fun(key: string, listeners: table)
function M.on_listeners(dap, made)
  if places.problem('listeners', dap) then
    return
  end
  local meta = getmetatable(dap.listeners.before)
  local index = meta.__index
  meta.__index = function(listeners, key)
    local found = index(listeners, key)
    if type(found) == 'table' and type(key) == 'string' then
      pcall(made, key, found)
    end
    return found
  end
end

-- Breakpoints and starts -------------------------------------------------------------------------

---Hear of changes of breakpoints, before they are made.
---@param changed fun()
function M.on_breakpoints(changed)
  local breakpoints = require('dap.breakpoints')
  for _, name in ipairs({ 'toggle', 'remove', 'remove_by_id', 'clear' }) do
    local original = breakpoints[name]
    if type(original) == 'function' then
      breakpoints[name] = function(...)
        changed()
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
      local ours = wrap(original)
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
  if places.problem('initialized') then
    return
  end
  local Session = require('dap.session')
  local original = Session.event_initialized
  Session.event_initialized = function(session, ...)
    local given = vim.F.pack_len(...)
    local function start()
      original(session, vim.F.unpack_len(given))
    end
    local ok, waits = pcall(wait, session, start)
    if not (ok and waits) then
      start()
    end
  end
end

---Heed these exception filters instead of nvim-dap's defaults, once.
---@param session dap.Session
---@param filters string[]
function M.set_filters_once(session, filters)
  if places.problem('filters') then
    return
  end
  local mutable = session --[[@as table]]
  mutable.set_exception_breakpoints = function(self, _, _, on_done)
    mutable.set_exception_breakpoints = nil
    return self:set_exception_breakpoints(filters, nil, on_done)
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
  if places.lacks(handlers, command) then
    places.miss(command, 'a session had none')
    return false
  end
  handlers[command] = wrap(handlers[command])
  return true
end

---While `work` runs, and only then, all programs in terminals are started by the function that `wrap` returns.
---@param wrap fun(start: function): function
---@param work fun()
function M.while_starting_jobs(wrap, work)
  local jobstart, termopen = vim.fn.jobstart, vim.fn.termopen
  vim.fn.jobstart, vim.fn.termopen = wrap(jobstart), wrap(termopen)
  local ok, err = pcall(work)
  vim.fn.jobstart, vim.fn.termopen = jobstart, termopen
  if not ok then
    error(err, 0)
  end
end

-- State of sessions -------------------------------------------------------------------------------

---Do what nvim-dap's `clear_running` does, which a raw request bypasses: nvim-dap would believe that the session is
---still stopped, and resume by itself the next thread that stops. Legal in a luv callback.
---@param session dap.Session
---@param thread_id integer?
---@return fun(): boolean undo  for a request that was refused; whether it has undone it
function M.mark_running(session, thread_id)
  local mutable = session --[[@as table]]
  if type(mutable.threads) ~= 'table' then
    places.miss('running', 'a session had no threads')
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
  mutable.capabilities = mutable.capabilities or {}
  if type(mutable.capabilities) == 'table' then
    mutable.capabilities[name] = true
  else
    places.miss('capabilities', 'those of a session are no table')
  end
end

---While `work` runs, and only then, a session's terminal is put into the buffer that `make` gives, and no window.
---@param session dap.Session
---@param make fun(): integer
---@param work fun()
function M.while_opening_terminals(session, make, work)
  if places.problem('defaults') then
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

-- Private methods --------------------------------------------------------------------------------

---Have nvim-dap ask for a frame's scopes and variables anew.
---@param session dap.Session
---@param frame dap.StackFrame
---@return boolean  whether it does
function M.request_scopes(session, frame)
  if places.problem('scopes') then
    return false
  end
  session:_request_scopes(frame)
  return true
end

---Have nvim-dap show an exception's text.
---@param session dap.Session
---@param thread_id integer
---@param buffer integer
---@param frame dap.StackFrame
function M.show_exception(session, thread_id, buffer, frame)
  if not places.problem('exceptions') then
    require('dap.async').run(function()
      session._show_exception_info(session, thread_id, buffer, frame)
    end)
  end
end

return M
