--- All uses and patches of nvim-dap's internals, which nvim-dap may change at any time.
---
--- Each place has a name, what it must be like, and what is lost where it is not like that. Nothing else is lost then:
--- the place is left alone. `:checkhealth dapeer` lists them.
local M = {}

---@class dapeer.Place
---@field name string                             where it is
---@field lost string                             what does not work without it
---@field check fun(dap: table): string?          why it cannot be used

---@param holder any
---@param ... string  names of functions
---@return string?
local function lacks(holder, ...)
  for _, name in ipairs({ ... }) do
    if type(holder) ~= 'table' or type(holder[name]) ~= 'function' then
      return ('there is no function %s'):format(name)
    end
  end
end

-- Known only when a session begins: what was missing then.
---@type table<string, string>
local missed = {}

local hook = require('dapeer.kept').part('hook', { installed = false })

---@type table<string, dapeer.Place>
local PLACES = {
  loading = {
    name = 'package.preload.dap until it is loaded',
    lost = 'the assistant does not see what you debug',
    check = function()
      return not hook.installed and 'neither has setup() been called, nor has a core joined' or nil
    end,
  },
  messages = {
    name = 'rpc.create_read_loop, Session.initialize, client.write',
    lost = 'sessions do not answer the assistant while Neovim waits for a key',
    check = function()
      return missed.messages
        or lacks(require('dap.rpc'), 'create_read_loop')
        or lacks(require('dap.session'), 'initialize')
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
    lost = 'the assistant sees your breakpoints only when the text changes',
    check = function()
      return lacks(require('dap.breakpoints'), 'toggle', 'remove', 'clear')
    end,
  },
  starts = {
    name = 'dap.launch, dap.attach, utils.notify',
    lost = 'the assistant is not told why a program that it starts here does not start',
    check = function(dap)
      return lacks(dap, 'launch', 'attach') or lacks(require('dap.utils'), 'notify')
    end,
  },
  filters = {
    name = 'Session.set_exception_breakpoints',
    lost = "the assistant's exception filters do not apply to programs that it starts here",
    check = function()
      return lacks(require('dap.session'), 'set_exception_breakpoints')
    end,
  },
  runInTerminal = {
    name = 'handlers.reverse_requests.runInTerminal, and vim.fn.jobstart while it runs',
    lost = 'the assistant does not see what a program prints in its terminal, and cannot type there',
    check = function()
      return missed.runInTerminal
    end,
  },
  startDebugging = {
    name = 'handlers.reverse_requests.startDebugging',
    lost = 'a child process that an adapter announces at a port waits for a debugger',
    check = function()
      return missed.startDebugging
    end,
  },
  scopes = {
    name = 'Session._request_scopes',
    lost = 'you do not see values that the assistant has changed before the next stop',
    check = function()
      return lacks(require('dap.session'), '_request_scopes')
    end,
  },
  exceptions = {
    name = 'Session._show_exception_info',
    lost = "an exception's text is not shown at a stop to which your cursor does not go",
    check = function()
      local Session = require('dap.session')
      -- Before nvim-dap 0.10 it took other arguments.
      return lacks(Session, '_show_exception_info')
        or (debug.getinfo(Session._show_exception_info, 'u').nparams ~= 4 and 'it takes other arguments')
        or nil
    end,
  },
}

---@param place string
---@param dap? table
---@return string? problem
local function problem_of(place, dap)
  local ok, problem = pcall(PLACES[place].check, dap or require('dap'))
  return not ok and tostring(problem) or problem
end

---The places, by name; `problem` says why one is left alone. nvim-dap is loaded.
---@return { name: string, lost: string, problem?: string }[]
function M.list()
  local found = {}
  for place, each in vim.spairs(PLACES) do
    table.insert(found, { name = each.name, lost = each.lost, problem = problem_of(place) })
  end
  return found
end

-- nvim-dap comes ---------------------------------------------------------------------------------

---Load a module as `require` would have, had we not stood in the way.
---@param name string
---@param preload? function  what stood there before us
---@return any
local function load_original(name, preload)
  if preload then
    return preload(name)
  end
  local tried = {}
  for index = 2, #package.loaders do
    local loader = package.loaders[index](name)
    if type(loader) == 'function' then
      return loader(name)
    end
    tried[#tried + 1] = loader
  end
  error(("module '%s' not found:%s"):format(name, table.concat(tried)), 0)
end

---Call back with nvim-dap: at once when it is loaded, else in the moment in which somebody loads it, who does so
---by `require`. It is not loaded here.
---@param loaded fun(dap: table)
function M.when_loaded(loaded)
  if hook.installed then
    return
  end
  hook.installed = true
  if package.loaded['dap'] then
    return loaded(package.loaded['dap'])
  end
  local before = package.preload['dap']
  package.preload['dap'] = function(name)
    package.preload[name] = before
    local ok, dap = pcall(load_original, name, before)
    if not ok then
      -- It is not there (yet): whoever installs it later finds us waiting again. What `require` has
      -- put here meanwhile marks a module that is being loaded.
      package.loaded[name] = nil
      hook.installed = false
      M.when_loaded(loaded)
      error(dap, 0)
    end
    dap = dap == nil and true or dap
    package.loaded[name] = dap
    loaded(dap)
    return dap
  end
end

-- Messages ---------------------------------------------------------------------------------------

---Hear what nvim-dap reads, in the callbacks of luv in which it does.
---@param reading fun(): fun(body: string)  called for each new read loop; what it returns gets the messages
---@param beginning fun(session: dap.Session)  a session begins: the read loop made last is its own
---@return string? problem
function M.on_reading(reading, beginning)
  local problem = problem_of('messages')
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
  if lacks(client, 'write') then
    missed.messages = 'a session had no client.write'
    return false
  end
  local write = client.write
  client.write = function(text, ...)
    pcall(heard, text)
    return write(text, ...)
  end
  return true
end

---Hear of each table of listeners that nvim-dap makes for a key that it looks up.
---@param dap table
---@param made fun(key: string, listeners: table)
function M.on_listeners(dap, made)
  if problem_of('listeners', dap) then
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

---Heed these exception filters instead of nvim-dap's defaults, once.
---@param session dap.Session
---@param filters string[]
function M.set_filters_once(session, filters)
  if problem_of('filters') then
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
  if lacks(handlers, command) then
    missed[command] = 'a session had none'
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

-- Private methods --------------------------------------------------------------------------------

---Have nvim-dap ask for a frame's scopes and variables anew.
---@param session dap.Session
---@param frame dap.StackFrame
---@return boolean  whether it does
function M.request_scopes(session, frame)
  if problem_of('scopes') then
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
  if not problem_of('exceptions') then
    require('dap.async').run(function()
      session._show_exception_info(session, thread_id, buffer, frame)
    end)
  end
end

return M
