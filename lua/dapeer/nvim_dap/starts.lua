--- What comes of the starts that the assistant makes in nvim-dap.
---
--- A launch is watched until its adapter has answered `launch` or `attach`: nvim-dap's messages to the person
--- about a failure are also sent to the cores.
local M = {}

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
---@field said string[] nvim-dap's messages to the person since
---@field session? dap.Session set when it is claimed
---@field initialized? boolean the adapter has answered once, so it lives

---@type dapeer.Launch[]
local watched = {}
---@type table<dap.Session, integer>
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
  local words = why == '' and table.concat(launch.said, ' ') or why
  local text = require('dapeer.results.fitting').head((words:gsub('%s+', ' ')), LONGEST)
  require('dapeer.rpc').notify('launch_failed', launch.id, text)
end

---@param launch dapeer.Launch
local function time_out(launch)
  if launch.initialized then
    return finish(launch)
  end
  local what = launch.session and "nvim-dap's adapter did not answer" or 'nvim-dap started no session'
  local said = #launch.said > 0 and ' It said: ' .. table.concat(launch.said, ' ') or ''
  M.fail(launch, ('%s within %d s.%s'):format(what, TIMEOUT / 1000, said))
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
local function heard(message, level)
  local launch = concerned()
  if not launch then
    return
  end
  if message == 'Run aborted' then
    return M.fail(launch, 'nvim-dap says: Run aborted.')
  elseif (level or 0) < vim.log.levels.WARN then
    return
  end
  launch.said[#launch.said + 1] = tostring(message)
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

---Why an adapter's program cannot be started, if so.
---@param adapter any
---@return string?
function M.missing(adapter)
  local program = type(adapter) == 'table' and (adapter.type == 'executable' and adapter or adapter.executable)
  local command = type(program) == 'table' and program.command
  if type(command) ~= 'string' or vim.in_fast_event() then
    return nil
  end
  local options = program.options or program
  local elsewhere = options.env or (options.cwd and command:find('/', 1, true) and command:sub(1, 1) ~= '/')
  if not elsewhere and vim.fn.executable(command) == 0 then
    return ("The program `%s` of nvim-dap's adapter does not exist."):format(command)
  end
end

---Fail a launch whose filters the adapter does not have; as it would fail without nvim-dap.
---@param launch dapeer.Launch
local function check_filters(launch)
  local offered = {}
  for _, each in ipairs(launch.session.capabilities.exceptionBreakpointFilters or {}) do
    offered[#offered + 1] = each.filter
  end
  for _, filter in ipairs(launch.exception_filters or {}) do
    if not vim.tbl_contains(offered, filter) then
      local known = #offered > 0 and table.concat(offered, ', ') or 'none'
      M.fail(launch, ('There is no exception filter `%s`; the adapter has: %s.'):format(filter, known))
      return launch.session:disconnect({ terminateDebuggee = launch.request == 'launch' })
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
        M.fail(launch, #launch.said > 0 and '' or tostring(err))
      elseif last then
        finish(launch)
      else
        check_filters(launch)
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
    pcall(heard, message, level)
    return original(message, level, ...)
  end
end

-- Here the adapter is known even where a function of the person has made it.
---@param original function
---@return function
local function starting(original)
  return function(adapter, config, ...)
    local launch = waiting_for(config)
    local why = launch and M.missing(adapter)
    if why then
      return M.fail(launch, why)
    end
    local session = original(adapter, config, ...)
    if session then
      pcall(M.claim, session)
    elseif launch then
      M.fail(launch, #launch.said > 0 and '' or "nvim-dap could not start the adapter's program.")
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
function M.claim(session)
  local launch = not claimed[session] and not session.parent and waiting_for(session.config or {})
  if launch then
    claimed[session] = launch.id
    launch.session = session
    require('dapeer.nvim_dap.follow').start(session)
    if launch.exception_filters then
      require('dapeer.nvim_dap.internals').set_filters_once(session, launch.exception_filters)
    end
    session.on_close['dapeer.launch'] = function()
      if #launch.said > 0 then
        M.fail(launch, '')
      elseif not launch.timer:is_closing() then
        launch.said[1] = 'The debug adapter ended before it started the program.'
        launch.timer:start(LAST_WORDS, 0, function()
          M.fail(launch, launch.said[2] and table.concat(launch.said, ' ', 2) or '')
        end)
      end
    end
  end
  return claimed[session]
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
    said = {},
  }
  watched[#watched + 1] = launch
  launch.timer:start(TIMEOUT, 0, function()
    time_out(launch)
  end)
  listen(require('dap'))
  return launch
end

return M
