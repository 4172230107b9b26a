--- The tap: every message of a session, both ways, as it passes nvim-dap, also while Neovim waits for a key.
---
--- nvim-dap hands its messages to the main thread (`vim.schedule`), which stands still while Neovim waits
--- for a key. The callbacks of luv do not. So the tap sits where nvim-dap reads and writes:
---   * `require('dap.rpc').create_read_loop(handle_body)` is made for every session; what it reads is seen first here;
---   * `Session.initialize` is called right after, in the same callback: it says whose read loop that was;
---   * `session.client.write` sends.
--- These are internals of nvim-dap (`internals/`). Where one is missing, the session has its listeners only
--- (`listeners.lua`).
---
--- A core gets one connection per session; what is said on it `frames.lua` tells, and when, `sink.lua`.
local M = {}

local frames = require('dapeer.nvim_dap.frames')
local journal = require('dapeer.nvim_dap.journal')
local sinks = require('dapeer.nvim_dap.sink')

---@class dapeer.Tap
---@field session dap.Session
---@field sinks table<table, dapeer.Sink> by pipe
---@field journal dapeer.Journal

---@type table<number, dapeer.Tap> by session id
local taps = require('dapeer.kept').part('taps')
---The read loop made last, until it is known whose it is.
---@type { tap?: dapeer.Tap, early: string[] }?
local latest
---The core's request that is being sent in this very moment.
---@type { pipe: table, number: integer }?
local sending

local reason = 'nvim-dap is not loaded'

---Marks the end of the journal; an event of dapeer's, which no adapter sends.
local REPLAYED = '{"seq":0,"type":"event","event":"dapeer.replayed","body":{}}'

---Tells a core that nvim-dap cannot look at the stop now: Neovim waits for a key.
local BLOCKED = '{"seq":0,"type":"event","event":"dapeer.blocked","body":{}}'

-- Requests whose arguments are the person's own configuration, environment included.
local PRIVATE = { launch = true, attach = true, restart = true }

---Name the event or command of an adapter's message without decoding it; the long ones are answers
---that may be forgotten.
---@param body string
---@return string?
local function name_of(body)
  local head = #body < 4096 and body or body:sub(1, 300)
  return head:match('"event"%s*:%s*"(%w+)"') or head:match('"command"%s*:%s*"(%w+)"')
end

---@param tap dapeer.Tap
---@param sink dapeer.Sink
local function drop(tap, sink)
  tap.sinks[sink.pipe] = nil
  sinks.close(sink)
end

---Hand a message to the cores that know the session's past, and keep it for those that join later.
---@param tap dapeer.Tap
---@param kind string
---@param name string? event or command
---@param body string
local function emit(tap, kind, name, body)
  local text = frames.write(kind, 0, body)
  journal.add(tap.journal, name, text)
  for pipe, sink in pairs(tap.sinks) do
    if sink.ready and not sinks.is_read(sink) then
      drop(tap, sink)
    elseif sink.ready and kind == 'i' then
      sinks.message(sink, name, text)
    elseif sink.ready then
      local own = sending and sending.pipe == pipe
      sinks.request(sink, name, own and frames.write(kind, sending.number, body) or text)
    end
  end
end

---A message from the adapter.
---@param loop { tap?: dapeer.Tap, early: string[] }
---@param body string
local function incoming(loop, body)
  if loop.tap then
    local name = name_of(body)
    emit(loop.tap, 'i', name, body)
    if name == 'stopped' and vim.api.nvim_get_mode().blocking then
      emit(loop.tap, 'i', 'dapeer.blocked', BLOCKED)
    end
  elseif #loop.early < 100 then
    loop.early[#loop.early + 1] = body
  end
end

---A message to the adapter, in its frame.
---@param tap dapeer.Tap
---@param text string
local function outgoing(tap, text)
  local body = text:match('^.-\r\n\r\n(.*)$') or text
  local message = vim.json.decode(body)
  if PRIVATE[message.command] then
    -- No other core gets them.
    message.arguments = vim.empty_dict()
    body = vim.json.encode(message)
  end
  emit(tap, 'o', message.command, body)
end

---Do a core's request.
---@param tap dapeer.Tap
---@param sink dapeer.Sink
---@param number integer
---@param text string
local function obey(tap, sink, number, text)
  -- It may have been asked without what waits.
  sinks.flush(sink)
  sending = { pipe = sink.pipe, number = number }
  local ok, err = pcall(function()
    assert(not tap.session.closed, 'the session is closed')
    local request = vim.json.decode(text, { luanil = { object = true } })
    require('dapeer.nvim_dap.requests').send(
      tap.session,
      request.command,
      request.arguments or vim.empty_dict(),
      function()
        return tap.journal.stopped
      end
    )
  end)
  sending = nil
  if not ok then
    sinks.send(sink, frames.write('x', number, tostring(err)))
  end
end

---Connect a session to a core: who it is, its past, and from then on its presence.
---@param tap dapeer.Tap
---@param core dapeer.Core
local function connect(tap, core)
  local pipe = vim.uv.new_pipe(false)
  if not (pipe and core.tap) then
    return
  end
  local sink = sinks.new(pipe)
  tap.sinks[pipe] = sink
  local hello = require('dapeer.nvim_dap.sessions').facts(tap.session)
  hello.secret = core.secret
  pipe:connect(core.tap, function(err)
    if err or tap.session.closed then
      return drop(tap, sink)
    end
    pipe:write(vim.json.encode(hello) .. '\n')
    local past = journal.frames(tap.journal)
    past[#past + 1] = frames.write('i', 0, REPLAYED)
    pipe:write(past)
    sink.ready = true
    local read = frames.reader(function(number, text)
      obey(tap, sink, number, text)
    end)
    pipe:read_start(function(failed, chunk)
      if failed or not chunk then
        return drop(tap, sink)
      end
      read(chunk)
    end)
  end)
end

---@param tap dapeer.Tap
local function closed(tap)
  taps[tap.session.id] = nil
  local ending = tap.sinks
  tap.sinks = {}
  for _, sink in pairs(ending) do
    sinks.finish(sink, frames.write('e', 0, ''))
  end
end

---A session begins: the read loop made last is its own.
---@param session dap.Session
local function begin(session)
  local loop = latest
  latest = nil
  local tap = { session = session, sinks = {}, journal = journal.new() }
  local function forward(text)
    outgoing(tap, text)
  end
  if not loop or not require('dapeer.nvim_dap.internals').on_writing(session, forward) then
    return
  end
  taps[session.id] = tap
  loop.tap = tap
  session.on_close['dapeer.tap'] = function()
    pcall(closed, tap)
  end
  for _, body in ipairs(loop.early) do
    emit(tap, 'i', name_of(body), body)
  end
  for _, core in ipairs(require('dapeer.rpc').attached()) do
    connect(tap, core)
  end
end

---Whether sessions can be tapped, and if not, why.
---@return boolean possible
---@return string? reason
function M.possible()
  -- With it comes what decides.
  pcall(require, 'dap.session')
  return reason == nil, reason
end

---@param id integer
---@return boolean
function M.has(id)
  return taps[id] ~= nil
end

---Send an event of dapeer's as if it were the adapter's.
---@param session dap.Session
---@param event string
---@param body table
function M.say(session, event, body)
  local tap = taps[session.id]
  if tap then
    emit(tap, 'i', event, vim.json.encode({ seq = 0, type = 'event', event = event, body = body }))
  end
end

---The latest stop of a session; to be compared, nothing else.
---@param id integer
---@return table?
function M.stop(id)
  return taps[id] and taps[id].journal.stopped
end

---Connect a session that runs already to a core that has just joined. False when it has no tap.
---@param core dapeer.Core
---@param session dap.Session
---@return boolean
function M.introduce(core, session)
  local tap = taps[session.id]
  if not tap or not core.tap then
    return false
  end
  connect(tap, core)
  return true
end

---A read loop is made; whose it is will be known when its session begins.
---@return fun(body: string)
local function reading()
  local loop = { early = {} }
  latest = loop
  return function(body)
    incoming(loop, body)
  end
end

---Sit down where nvim-dap reads and writes, if this nvim-dap allows it.
function M.install()
  -- Needed in luv callbacks, where nothing should have to be loaded first.
  local internals = require('dapeer.nvim_dap.internals')
  require('dapeer.nvim_dap.sessions')
  require('dapeer.nvim_dap.requests')
  require('dapeer.nvim_dap.follow')
  require('dapeer.rpc')
  pcall(require, 'dapeer.nvim_dap.launch')
  if require('dapeer.config').get().tap == false then
    reason = 'it is switched off (setup{ tap = false })'
  else
    reason = internals.on_reading(reading, begin)
  end
end

return M
