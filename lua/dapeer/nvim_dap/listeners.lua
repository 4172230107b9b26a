--- The second road: nvim-dap's own listeners, forwarded over rpcnotify. All of it is documented by nvim-dap.
---
--- It stands still while Neovim waits for a key, so it is taken only for sessions without a tap: those that ran
--- before dapeer was loaded, and all of an nvim-dap whose internals are not what the tap needs.
---
--- A core gets `session` (its facts), then `dap`: session id, kind, number and message, with the kinds of
--- `tap.lua`, then `closed`. Listeners see no outgoing requests, so each is sent right before its response.
local M = {}

local KEY = 'dapeer.forward'

local EVENTS = vim.split(
  'breakpoint capabilities continued exited initialized invalidated loadedSource memory module output '
    .. 'process stopped terminated thread',
  ' '
)
local COMMANDS = vim.split(
  'attach breakpointLocations completions configurationDone continue dataBreakpointInfo disassemble disconnect '
    .. 'evaluate exceptionInfo goto gotoTargets initialize launch loadedSources locations modules next pause '
    .. 'readMemory restart restartFrame reverseContinue scopes setBreakpoints setDataBreakpoints '
    .. 'setExceptionBreakpoints setExpression setFunctionBreakpoints setInstructionBreakpoints setVariable '
    .. 'source stackTrace stepBack stepIn stepInTargets stepOut terminate terminateThreads threads variables '
    .. 'writeMemory',
  ' '
)

-- What was asked before the latest stop says nothing about it.
local OF_ONE_STOP = vim.tbl_extend('force', require('dapeer.nvim_dap.commands').RESUMES, {
  stackTrace = true,
  scopes = true,
  variables = true,
  exceptionInfo = true,
})

---@class dapeer.Forwarded
---@field stop_seq integer? number of the next request when the session stopped last

---@type table<number, dapeer.Forwarded> by session id
local forwarded = {}

---Our own requests, known by the very table of their arguments, which nvim-dap hands to its listeners.
---@type table<table, { core: dapeer.Core, number: integer }>
local own_requests = setmetatable({}, { __mode = 'k' })

---@param core dapeer.Core
---@param session dap.Session
---@param kind string
---@param number integer
---@param message table
local function send(core, session, kind, number, message)
  local rpc = require('dapeer.rpc')
  if not rpc.send(core, 'dap', session.id, kind, number, message) then
    -- Somebody else's arguments may hold what msgpack cannot: functions, or a table within itself.
    message.arguments = vim.empty_dict()
    rpc.send(core, 'dap', session.id, kind, number, message)
  end
end

---@param core dapeer.Core
---@param session dap.Session
local function replay(core, session)
  local function event(name, body)
    send(core, session, 'i', 0, { type = 'event', event = name, body = body })
  end
  event('capabilities', { capabilities = vim.deepcopy(session.capabilities or {}) })
  if session.initialized then
    event('initialized', vim.empty_dict())
    event('process', { name = session.config and session.config.name or '' })
  end
  if session.stopped_thread_id then
    local thread = (session.threads or {})[session.stopped_thread_id]
    local others_run = false
    for _, other in pairs(session.threads or {}) do
      others_run = others_run or (other ~= thread and not other.stopped)
    end
    event('stopped', {
      reason = 'pause',
      description = 'stopped before dapeer attached',
      threadId = session.stopped_thread_id,
      allThreadsStopped = not others_run,
    })
  end
  event('dapeer.replayed', vim.empty_dict())
end

---Tell a core of a session and of what has become of it so far.
---@param core dapeer.Core
---@param session dap.Session
function M.introduce(core, session)
  M.follow(session)
  local rpc = require('dapeer.rpc')
  rpc.send(core, 'session', require('dapeer.nvim_dap.sessions').facts(session))
  replay(core, session)
end

---Notice the end of a session.
---@param session dap.Session
function M.follow(session)
  if forwarded[session.id] then
    return
  end
  forwarded[session.id] = {}
  session.on_close['dapeer.forward'] = function()
    -- It may be called within a luv callback, and the adapter's last words come first: nvim-dap schedules a message
    -- twice on its way to the listeners.
    vim.schedule(function()
      vim.schedule(function()
        forwarded[session.id] = nil
        require('dapeer.rpc').notify('closed', session.id)
      end)
    end)
  end
end

---Return the cores that a session reaches by this road; to them, one that is seen first is announced.
---@param session dap.Session
---@return dapeer.Core[]
local function listening(session)
  local tapped = require('dapeer.nvim_dap.tap').has(session.id)
  local cores = vim.tbl_filter(function(core)
    return not (tapped and core.tap)
  end, require('dapeer.rpc').attached())
  if forwarded[session.id] then
    return cores
  elseif session.closed or #cores == 0 then
    return {}
  end
  M.follow(session)
  local facts = require('dapeer.nvim_dap.sessions').facts(session)
  for _, core in ipairs(cores) do
    require('dapeer.rpc').send(core, 'session', facts)
  end
  return cores
end

---@param name string
---@param session dap.Session
---@param body any
local function on_event(name, session, body)
  local cores = listening(session)
  if name == 'stopped' and forwarded[session.id] then
    forwarded[session.id].stop_seq = tonumber(session.seq)
  end
  for _, core in ipairs(cores) do
    send(core, session, 'i', 0, { type = 'event', event = name, body = body })
  end
end

---Send an event of dapeer's as if it were the adapter's, to the cores that have no tap of the session.
---@param session dap.Session
---@param event string
---@param body table
function M.say(session, event, body)
  on_event(event, session, body)
end

---@param command string
---@param session dap.Session
---@param arguments any
---@param seq integer
---@return boolean
local function is_late(command, session, arguments, seq)
  local stop_seq = (forwarded[session.id] or {}).stop_seq
  return stop_seq ~= nil and seq < stop_seq and OF_ONE_STOP[command] and not own_requests[arguments] or false
end

---@param command string
---@param session dap.Session
---@param err any
---@param response any
---@param arguments any
---@param seq integer
local function on_response(command, session, err, response, arguments, seq)
  local cores = listening(session)
  if #cores == 0 or is_late(command, session, arguments, seq) then
    return
  end
  local mine = type(arguments) == 'table' and own_requests[arguments] or nil
  local private = command == 'launch' or command == 'attach' or command == 'restart' or type(arguments) ~= 'table'
  local request = {
    type = 'request',
    seq = seq,
    command = command,
    arguments = private and vim.empty_dict() or arguments,
  }
  local answer = {
    type = 'response',
    request_seq = seq,
    command = command,
    success = err == nil,
    message = err and err.message or nil,
    body = err and err.body or response,
  }
  for _, core in ipairs(cores) do
    send(core, session, 'o', mine and mine.core == core and mine.number or 0, vim.tbl_extend('force', {}, request))
    send(core, session, 'i', 0, answer)
  end
end

---Do a core's request, unless it comes too late to be wanted.
---@param channel integer
---@param id integer the session
---@param number integer
---@param text string JSON: command and arguments
---@param latest number Unix time after which it must not be sent
---@return boolean? done nil: there is no such session any more
function M.request(channel, id, number, text, latest)
  if require('dapeer.rpc').now() > latest then
    return false
  end
  local session = require('dapeer.nvim_dap.sessions').find(id)
  if not session or session.closed then
    return nil
  end
  local message = vim.json.decode(text, { luanil = { object = true } })
  local arguments = message.arguments or vim.empty_dict()
  for _, core in ipairs(require('dapeer.rpc').attached()) do
    if core.channel == channel then
      own_requests[arguments] = { core = core, number = number }
    end
  end
  require('dapeer.nvim_dap.requests').send(session, message.command, arguments, function()
    return require('dapeer.nvim_dap.tap').stop(id)
  end)
  return true
end

---Listen to one kind of message.
---@param key string a command, or `event_` and an event
---@param listeners table
local function listen(key, listeners)
  local event = key:match('^event_(.*)$')
  if event then
    listeners[KEY] = function(session, body)
      pcall(on_event, event, session, body)
    end
  else
    listeners[KEY] = function(session, err, response, arguments, seq)
      pcall(on_response, key, session, err, response, arguments, seq)
    end
  end
end

---@param dap table
function M.install(dap)
  -- `before`, because nvim-dap writes into the same tables afterwards, and makes them cyclic.
  local before = dap.listeners.before
  for _, event in ipairs(EVENTS) do
    listen('event_' .. event, before['event_' .. event])
  end
  for _, command in ipairs(COMMANDS) do
    listen(command, before[command])
  end
  -- What the specification does not know, too.
  require('dapeer.nvim_dap.internals').on_listeners(dap, listen)
end

return M
