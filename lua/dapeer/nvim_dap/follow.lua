--- What a person sees of a stop that the assistant has caused, and which session their keys act on.
---
--- nvim-dap jumps to every stop: it moves the cursor, and shows the file in a window that may be another's. Who
--- types meanwhile, or has just pressed a key, would type into the program. So a stop is told to nvim-dap as one that leaves the focus where it
--- is (`preserveFocusHint` of DAP's `stopped`), unless the person is free for it; its sign is placed here, and
--- `:Dapeer follow` goes there. A stop that the person has caused is nvim-dap's alone.
local M = {}

local KEY = 'dapeer.follow'

---Who made a session run last: true where the assistant did. Children go with their parents.
---@type table<dap.Session, boolean>
local driven = setmetatable({}, { __mode = 'k' })

---The arguments of the core's own requests: the very tables that nvim-dap hands to its listeners.
---@type table<table, true>
local own_requests = setmetatable({}, { __mode = 'k' })

---@class dapeer.Stop  A stop that the assistant has caused.
---@field body table               of the event; nvim-dap reads it when it jumps
---@field hint boolean?            the adapter's own hint on the focus
---@field shown? boolean           nvim-dap or we have shown it
---@field hasty? boolean           the person's cursor would go there, had they not just pressed a key
---@field forget? fun()            withdraws the message to the person

---@type table<dap.Session, dapeer.Stop>
local stops = setmetatable({}, { __mode = 'k' })

---The line of the latest stop.
---@type table<dap.Session, integer>
local lines = setmetatable({}, { __mode = 'k' })

---Which session had the focus before.
---@type table<dap.Session, dap.Session>
local previous = setmetatable({}, { __mode = 'kv' })

---The sessions that have stopped for the assistant, the latest with the highest number: `:Dapeer follow` goes there.
---@type table<dap.Session, integer>
local ranks = setmetatable({}, { __mode = 'k' })
local count = 0

---Notice that the assistant makes a session run or stop. Legal in a luv callback.
---@param session dap.Session
---@param arguments? table  those of the request
function M.drive(session, arguments)
  driven[session] = true
  if arguments then
    own_requests[arguments] = true
  end
end

---Notice that the assistant has made a session. Legal in a luv callback.
---@param session dap.Session
function M.start(session)
  M.drive(session)
  -- nvim-dap gives it the focus before or after this.
  vim.schedule(function()
    pcall(M.give_back, session, previous[session])
  end)
end

---Whether a session runs for the assistant.
---@param session dap.Session
---@return boolean
function M.drives(session)
  local own = driven[session]
  if own == nil and session.parent then
    return M.drives(session.parent)
  end
  return own == true
end

---Whether the person's cursor may go to what the assistant has caused.
---@return boolean
---@return boolean hasty  it may as soon as they have paused
local function may_move()
  local follow = require('dapeer.config').get().follow
  if follow ~= 'idle' then
    return follow == 'always', false
  end
  local attention = require('dapeer.person.attention')
  local reads = attention.in_normal_mode()
    and require('dapeer.nvim_dap.showing').shows_source(vim.api.nvim_get_current_win())
  return reads and not (attention.busy() or attention.awaited()), reads
end

---Whether the person's cursor may go to a stop that the assistant has caused: no text of theirs is lost for it.
---@param session dap.Session
---@param frame dap.StackFrame?
---@return boolean
---@return boolean hasty  it may as soon as they have paused
local function may_jump(session, frame)
  local moves, hasty = may_move()
  return moves and (not frame or require('dapeer.nvim_dap.showing').has_room(session, frame)), hasty
end

---Tell the person where the program has stopped, or go there, as soon as they do not type.
---@param session dap.Session
---@param stop dapeer.Stop
---@param frame dap.StackFrame
local function lead(session, stop, frame)
  local name = frame.source and vim.fs.basename(frame.source.path or frame.source.name or '') or frame.name
  local sentence = ('stopped at %s:%d; :Dapeer follow goes there'):format(name, frame.line)
  local attention = require('dapeer.person.attention')
  local withdraw = function() end
  local cancel = attention.when_free(function()
    if stop.hasty and session.stopped_thread_id == stop.body.threadId and may_jump(session, frame) then
      return require('dapeer.nvim_dap.internals').frames.jump(session, frame)
    end
    withdraw = require('dapeer.person.waiting').mention(sentence)
  end)
  stop.forget = function()
    cancel()
    withdraw()
  end
end

---@param session dap.Session
local function forget(session)
  local stop = stops[session]
  stops[session] = nil
  if stop and stop.forget then
    stop.forget()
  end
end

---@param session dap.Session
---@param body table
local function stopped(session, body)
  forget(session)
  if type(body) == 'table' and M.drives(session) then
    stops[session] = { body = body, hint = body.preserveFocusHint }
  end
end

---Before nvim-dap jumps: it asks for the stack first. The person's mode counts in this very moment.
---@param session dap.Session
---@param response table?
local function about_to_jump(session, response)
  local stop = stops[session]
  if stop and not stop.shown then
    local frame = require('dapeer.nvim_dap.internals').frames.top(response and response.stackFrames or {})
    local jumps, hasty = may_jump(session, frame)
    stop.hasty = hasty
    stop.body.preserveFocusHint = stop.hint or not jumps
  end
end

---@param session dap.Session
---@param response table?
local function jumped(session, response)
  local stop = stops[session]
  local thread = (session.threads or {})[stop and stop.body.threadId or session.stopped_thread_id]
  local frame = session.current_frame
  -- Others ask for stacks, too; this one is nvim-dap's own where it keeps the frames.
  local own = thread and response and thread.frames == response.stackFrames
  if not (own and frame) then
    return
  end
  local left = stop and stop.body.preserveFocusHint and not stop.hint
  local stays = left and session.stopped_thread_id == stop.body.threadId
  if stop and stop.shown then
    -- Where two stops came at once, the stack of the first has shown the second; nvim-dap takes its sign away with the next.
    if stays then
      require('dapeer.nvim_dap.showing').place_sign(session, frame)
    end
    return
  end
  local before = lines[session]
  lines[session] = frame.line
  if not stop then
    return
  end
  stop.shown = true
  count = count + 1
  ranks[session] = count
  if stays then
    require('dapeer.nvim_dap.showing').show(session, stop.body, frame, before)
    lead(session, stop, frame)
  end
end

---Call what opens a terminal for a session's program: its window waits until the person does not type, where the
---assistant has made the session.
---@param session dap.Session
---@param open fun()
function M.open_terminal(session, open)
  if not M.drives(session) or may_move() then
    return open()
  end
  local function make()
    local buffer = vim.api.nvim_create_buf(true, false)
    vim.schedule(function()
      require('dapeer.person.attention').when_paused(function()
        require('dapeer.nvim_dap.showing').open_terminal(buffer)
      end)
    end)
    return buffer
  end
  require('dapeer.nvim_dap.internals').terminals.while_opening(session, make, open)
end

---The person's keys keep acting on the person's own session while it runs.
---@param session dap.Session  that may take the focus
---@param before dap.Session?  that had it
function M.give_back(session, before)
  if before and before ~= session and not before.closed and M.drives(session) and not M.drives(before) then
    require('dap').set_session(before)
  end
end

---The session whose stop the assistant has caused last, of those that are stopped still.
---@return dap.Session?
local function latest()
  local found
  for session, rank in pairs(ranks) do
    local stands = session.stopped_thread_id and not session.closed and M.drives(session)
    if stands and rank > (found and ranks[found] or 0) then
      found = session
    end
  end
  return found
end

---Go to where the assistant's program has stopped, and let the person's keys act on it; where none has, to nvim-dap's own
---current frame. A text that Neovim would ask about, write or wipe stays where it is.
function M.follow()
  local dap = package.loaded['dap']
  local assisted = dap and latest()
  local session = assisted or dap and dap.session()
  if not session then
    return require('dapeer.person.waiting').mention('there is no debug session to follow')
  end
  if assisted then
    forget(assisted)
    dap.set_session(assisted)
  end
  if session.current_frame then
    require('dapeer.nvim_dap.showing').make_room(session, session.current_frame)
  end
  dap.focus_frame()
end

---The adapter has accepted a request that makes a session run or stop. Where nvim-dap itself resumes a second
---thread that stopped (`auto_continue_if_many_stopped`), the first one is stopped still.
---@param session dap.Session
---@param arguments any
local function resumed(session, arguments)
  forget(session)
  if type(arguments) == 'table' and not own_requests[arguments] and not session.stopped_thread_id then
    driven[session] = false
  end
end

---@param dap table
function M.install(dap)
  local before, after = dap.listeners.before, dap.listeners.after
  if dap.listeners.on_session then
    dap.listeners.on_session[KEY] = function(old, new)
      if new then
        previous[new] = old
      end
    end
  end
  before.event_stopped[KEY] = function(session, body)
    pcall(stopped, session, body)
    local focused = dap.session()
    -- nvim-dap moves the focus in a listener of its own, before or after this one.
    vim.schedule(function()
      pcall(M.give_back, session, focused)
    end)
  end
  before.stackTrace[KEY] = function(session, _, response)
    pcall(about_to_jump, session, response)
  end
  after.stackTrace[KEY] = function(session, _, response)
    pcall(jumped, session, response)
  end
  for command in pairs(require('dapeer.nvim_dap.commands').DRIVES) do
    before[command][KEY] = function(session, err, _, arguments)
      if not err then
        pcall(resumed, session, arguments)
      end
    end
  end
  before.event_initialized[KEY] = function(session)
    session.on_close[KEY] = function()
      forget(session)
    end
  end
end

return M
