--- What comes of the starts that the assistant makes in nvim-dap.
---
--- A launch is watched until its adapter has answered `launch` or `attach`: nvim-dap's messages to the person
--- about a failure are also sent to the cores.
local M = {}

local adapters = require('dapeer.nvim_dap.adapters')

local TIMEOUT = 15000
local LAST_WORDS = 100 -- ms in which nvim-dap may still say why a session closed
local LONGEST = 800

---@class dapeer.Launch
---@field id integer
---@field name string
---@field type string
---@field request string
---@field exception_filters? string[]
---@field timer uv.uv_timer_t
---@field messages string[] nvim-dap's messages to the person since
---@field session? dap.Session set when it is claimed
---@field initialized? boolean the adapter has answered once, so it lives
---@field waited? boolean the person had to leave a mode first
---@field wait? fun() stops waiting for that
---@field requested? boolean nvim-dap has been asked
---@field given_up? boolean nobody waits for it, and nvim-dap has no session of it yet

---@type dapeer.Launch[]
local watched = {}
---@type table<dap.Session, dapeer.Launch>
local claimed = setmetatable({}, { __mode = 'k' })
local last_id = 0

---Puts back what nvim-dap had, when nothing starts any longer.
---@type fun()?
local restore

---@param launch dapeer.Launch
local function finish(launch)
  for index, each in ipairs(watched) do
    if each == launch then
      table.remove(watched, index)
    end
  end
  if not launch.timer:is_closing() then
    launch.timer:close()
  end
  if #watched == 0 and restore then
    restore()
    restore = nil
  end
end

---@param launch dapeer.Launch
---@param why string
function M.fail(launch, why)
  if not vim.tbl_contains(watched, launch) then
    return
  end
  finish(launch)
  local words = why == '' and table.concat(launch.messages, ' ') or why
  local text = require('dapeer.results.fitting').head((words:gsub('%s+', ' ')), LONGEST)
  require('dapeer.rpc').notify('launch_failed', launch.id, text)
end

---A start is given up: what it has begun ends, or does not begin.
---@param launch dapeer.Launch
local function abandon(launch)
  launch.given_up = true
  if launch.wait then
    launch.wait()
  end
  local session = launch.session
  if session and not session.closed and launch.initialized then
    session:disconnect({ terminateDebuggee = launch.request == 'launch' })
  elseif session and not session.closed then
    session:close()
  end
end

---@param launch dapeer.Launch
local function time_out(launch)
  if launch.initialized then
    -- The core waits longer, and may give it up.
    return launch.timer:start(TIMEOUT, 0, function()
      finish(launch)
    end)
  end
  vim.schedule(function()
    abandon(launch)
  end)
  if not launch.requested or (launch.session and require('dapeer.nvim_dap.holding').waits(launch.session)) then
    return M.fail(launch, 'the person has not left a completion, a command or its window in Neovim for too long.')
  end
  local what = launch.session and "nvim-dap's adapter did not answer" or 'nvim-dap started no session'
  local messages = #launch.messages > 0 and ' It said: ' .. table.concat(launch.messages, ' ') or ''
  M.fail(launch, ('%s within %d s.%s'):format(what, TIMEOUT / 1000, messages))
end

---The launch that a notification is about: the oldest that waits, those without a session first.
---@return dapeer.Launch?
local function concerned()
  for _, launch in ipairs(watched) do
    if not launch.session then
      return launch
    end
  end
  return watched[1]
end

---@param message any
---@param level integer?
local function note_message(message, level)
  local launch = concerned()
  if not launch then
    return
  end
  if message == 'Run aborted' then
    return M.fail(launch, 'nvim-dap says: Run aborted.')
  elseif (level or 0) < vim.log.levels.WARN then
    return
  end
  launch.messages[#launch.messages + 1] = tostring(message)
  if level >= vim.log.levels.ERROR and not launch.session then
    M.fail(launch, '')
  end
end

---@param config table
---@return dapeer.Launch?
local function waiting_for(config)
  for _, launch in ipairs(watched) do
    local same_name = launch.name == tostring(config.name or '') or launch.name:find('${', 1, true)
    local same = launch.type == config.type and launch.request == config.request
    if not launch.session and same_name and same then
      return launch
    end
  end
end

---The adapter has answered, or refused, what makes a session run.
---@param session dap.Session
---@param err any
---@param last boolean nothing is left to wait for
local function answered(session, err, last)
  for _, launch in ipairs(watched) do
    if launch.session == session then
      launch.initialized = true
      if err then
        M.fail(launch, #launch.messages > 0 and '' or tostring(err))
      elseif last then
        finish(launch)
      end
      return
    end
  end
end

---@param dap table
local function follow_answers(dap)
  for _, command in ipairs({ 'initialize', 'launch', 'attach' }) do
    dap.listeners.after[command]['dapeer.launch'] = function(session, err)
      pcall(answered, session, err, command ~= 'initialize')
    end
  end
end

---@param original function
---@return function
local function hearing(original)
  return function(message, level, ...)
    pcall(note_message, message, level)
    return original(message, level, ...)
  end
end

-- Here the adapter is known even where a function of the person has made it.
---@param original function
---@return function
local function starting(original)
  return function(adapter, config, ...)
    local launch = waiting_for(config)
    if launch and launch.given_up then
      return finish(launch)
    end
    local why = launch and adapters.missing(adapter)
    if why then
      return M.fail(launch, why)
    end
    local session = original(launch and adapters.patient(adapter) or adapter, config, ...)
    if session then
      pcall(M.claim, session)
    elseif launch then
      M.fail(launch, #launch.messages > 0 and '' or "nvim-dap could not start the adapter's program.")
    end
    return session
  end
end

---@param dap table
local function listen(dap)
  follow_answers(dap)
  if not restore then
    restore = require('dapeer.nvim_dap.internals').while_starting(dap, hearing, starting)
  end
end

---Say which launch a new session comes of; the same again when asked again. Legal in a luv callback.
---@param session dap.Session
---@return integer? id
---@return boolean? waited  for the person
---@return string[]? exception_filters
function M.claim(session)
  local launch = not claimed[session] and not session.parent and waiting_for(session.config or {})
  if launch then
    claimed[session] = launch
    launch.session = session
    require('dapeer.nvim_dap.follow').start(session)
    session.on_close['dapeer.launch'] = function()
      if #launch.messages > 0 then
        M.fail(launch, '')
      elseif not launch.timer:is_closing() then
        launch.messages[1] = 'The debug adapter ended before it started the program.'
        launch.timer:start(LAST_WORDS, 0, function()
          M.fail(launch, launch.messages[2] and table.concat(launch.messages, ' ', 2) or '')
        end)
      end
    end
  end
  if claimed[session] then
    return claimed[session].id, claimed[session].waited, claimed[session].exception_filters
  end
end

---Nothing stands against a start any more.
---@param launch dapeer.Launch
function M.begin(launch)
  launch.requested = true
  if not launch.timer:is_closing() then
    launch.timer:start(TIMEOUT, 0, function()
      time_out(launch)
    end)
  end
end

---Give a start up: what it has begun ends.
---@param id integer
function M.cancel(id)
  local launch = vim.iter(watched):find(function(each)
    return each.id == id
  end)
  if launch then
    abandon(launch)
  end
  if launch and (launch.session or not launch.requested) then
    finish(launch)
  end
end

---Watch what comes of a start that is about to be made.
---@param config table
---@param opts dapeer.LaunchOptions
---@return dapeer.Launch
function M.watch(config, opts)
  last_id = last_id + 1
  local launch = {
    id = last_id,
    name = tostring(config.name or ''),
    type = config.type,
    request = config.request,
    exception_filters = opts.exception_filters,
    timer = assert(vim.uv.new_timer()),
    messages = {},
  }
  watched[#watched + 1] = launch
  launch.timer:start(TIMEOUT, 0, function()
    time_out(launch)
  end)
  listen(require('dap'))
  return launch
end

return M
