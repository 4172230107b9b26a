-- Supervises the core: starts it with Neovim, starts it again after a crash, ends it with Neovim.
--
-- There is one core at a time: `stop` followed by `start` starts the new one when the old one has
-- ended. So nothing that an old one says can be taken for the new one's, and two never want one port.
local M = {}

local FIRST_DELAY = 200 -- ms before a core that died is started again; doubles
local LONGEST_DELAY = 30 * 1000
local STEADY = 60 * 1000 -- ms of life after which the first delay counts again
local QUICK = 10 * 1000 -- ms of life that are too short
local QUICK_DEATHS = 5 -- of these in a row, and we give up
local WRONG_USE = 2 -- a core's exit code when trying again is no use

---The whole state.
---@class dapeer.Life
---@field enabled boolean                there should be a core
---@field guest? boolean                 only an integration has asked for it so far
---@field core? dapeer.Process             the newest, alive or not
---@field options dapeer.StartOptions    of the last start
---@field delay integer                 ms before the next restart
---@field quick integer                 how many died too soon, one after the other
---@field timer? uv.uv_timer_t          of a restart
---@field failure? string               why no core runs after a start
local life = require('dapeer.kept').part('life', {
  enabled = false,
  options = {},
  delay = FIRST_DELAY,
  quick = 0,
})

local spawn

---@param sentence string
---@param level? integer
local function warn(sentence, level)
  require('dapeer.person.attention').say(sentence, level or vim.log.levels.WARN)
end

local EVENTS = { on_ready = 'DapeerReady', on_stop = 'DapeerStopped' }

-- Calls a person's callback and triggers the event; an error in these is reported, and stops nothing else.
local function call_back(name, ...)
  pcall(vim.api.nvim_exec_autocmds, 'User', { pattern = EVENTS[name], modeline = false, data = { port = ... } })
  local callback = require('dapeer.config').get()[name]
  if callback then
    local ok, problem = pcall(callback, ...)
    if not ok then
      warn(('%s failed: %s'):format(name, problem))
    end
  end
end

local function alive()
  return life.core ~= nil and not life.core.ended
end

---@return dapeer.Process?  the running one that was not asked to end
local function current()
  return alive() and not life.core.leaving and life.core or nil
end

-- on_stop is called once after each on_ready, for any reason.
local function gone(core)
  if core.announced then
    core.announced = false
    call_back('on_stop')
  end
end

local function give_up(sentence)
  life.enabled = false
  life.failure = sentence
  require('dapeer.person.attention').say(sentence, vim.log.levels.ERROR, ' See :Dapeer status.')
end

local function cancel_restart()
  if life.timer then
    life.timer:stop()
    life.timer:close()
    life.timer = nil
  end
end

local function restart_later()
  local timer = assert(vim.uv.new_timer())
  life.timer = timer
  local again = vim.schedule_wrap(function()
    -- Unless it was stopped or started meanwhile.
    if life.timer == timer then
      cancel_restart()
      spawn()
    end
  end)
  timer:start(life.delay, 0, again)
  life.delay = math.min(life.delay * 2, LONGEST_DELAY)
end

---@param core dapeer.Process
---@param result vim.SystemCompleted
local function died(core, result)
  local process = require('dapeer.core.process')
  local words = process.last_words(core)
  local how = result.signal ~= 0 and 'signal ' .. result.signal or 'exit code ' .. result.code
  local lived = process.now() - core.started
  life.quick = lived < QUICK and life.quick + 1 or 0
  life.delay = lived >= STEADY and FIRST_DELAY or life.delay
  if result.code == WRONG_USE and not core.port then
    return give_up(('The core cannot start: %s.'):format(words))
  elseif life.quick >= QUICK_DEATHS then
    return give_up(('The core crashed %d times in a row (%s: %s).'):format(life.quick, how, words))
  end
  -- Once is enough to know.
  if life.quick <= 1 then
    warn(('The core crashed (%s) and is started again.'):format(how))
  end
  restart_later()
end

local function on_ready(core)
  if core == current() then
    core.announced = true
    call_back('on_ready', core.port)
  end
end

local function on_exit(core, result)
  gone(core)
  if core ~= life.core or not life.enabled then
    return
  elseif core.leaving then
    spawn()
  else
    died(core, result)
  end
end

function spawn()
  local command, problem = require('dapeer.core.executable').find()
  if not command then
    return give_up(problem)
  end
  local core, reason = require('dapeer.core.process').start(command, life.options, on_ready, on_exit)
  life.core = core
  if reason then
    give_up(('The core cannot be started: %s.'):format(reason))
  end
end

---Start the core, once the previous one has ended; does nothing if one runs or is starting.
---@param options? dapeer.StartOptions
function M.start(options)
  life.guest = false
  if life.enabled and not life.timer then
    return
  end
  cancel_restart()
  life.enabled, life.options, life.failure = true, options or {}, nil
  life.delay, life.quick = FIRST_DELAY, 0
  -- Not VimLeavePre: what is decided there, such as a diff, is to be heard by the core.
  vim.api.nvim_create_autocmd('VimLeave', {
    group = vim.api.nvim_create_augroup('dapeer_bridge', { clear = true }),
    callback = M.stop,
  })
  if not alive() then
    spawn()
  end
end

---Start the core for an integration, which dismisses it: unless a person or another part has asked for it meanwhile.
function M.start_as_guest()
  if not life.enabled then
    M.start()
    life.guest = true
  end
end

---End a core that only an integration has started, if nobody else uses it.
---@param client string  the program of the integration, whose own connection does not count
function M.dismiss_guest(client)
  local others = vim.tbl_filter(function(name)
    return not vim.startswith(name:lower(), client)
  end, require('dapeer.person.actions').assistants())
  if life.guest and #others == 0 then
    M.stop()
  end
end

---Stop the core, or stop trying to start it.
function M.stop()
  cancel_restart()
  life.enabled = false
  local core = current()
  if core then
    require('dapeer.core.process').dismiss(core)
    gone(core)
  end
end

---Stop the core, then start one with the same options.
function M.restart()
  M.stop()
  M.start(life.options)
end

---Whether there is a core, or one is on its way.
---@return boolean
function M.is_running()
  return life.enabled
end

---The URL for MCP clients; nil until the core listens.
---@return string?
function M.url()
  local core = current()
  return core and core.port and ('http://127.0.0.1:%d/mcp'):format(core.port)
end

---What clients show as `Authorization: Bearer TOKEN`.
---@return string?
function M.token()
  local core = current()
  return core and core.token
end

-- Cores that are attached to this Neovim, whoever has started them.
local function attached()
  return vim.tbl_filter(function(each)
    return not require('dapeer.rpc').has_ended(each.channel)
  end, require('dapeer.rpc').attached())
end

local function state()
  local core = current()
  if core then
    return core.port and 'running' or 'starting'
  elseif life.enabled then
    return life.timer and 'restarting' or 'starting'
  elseif alive() then
    return 'stopping'
  end
  return #attached() > 0 and 'attached' or 'stopped'
end

-- For a status line: who is there, and what waits for the person.
---@param assistants string[]
---@param waits string[]
---@return string  empty when no core is attached
local function text(assistants, waits)
  if #require('dapeer.rpc').attached() == 0 then
    return ''
  end
  local who = #assistants > 0 and table.concat(assistants, ', ') or 'dapeer'
  return #waits > 0 and ('%s: %s'):format(who, waits[1]) or who
end

-- One line for :Dapeer and :checkhealth: who may act, and what runs.
---@param assistants string[]
---@return string
local function summary(assistants)
  local core, held = current(), require('dapeer.person.approvals').held()
  local parts, now = {}, state()
  if held == 'paused' then
    table.insert(parts, 'paused: no assistant may act (:Dapeer resume)')
  elseif held then
    table.insert(parts, 'no assistant may act (:Dapeer start)')
  end
  if #attached() > 0 then
    local who = #assistants > 0 and table.concat(assistants, ', ') or 'a core without an assistant'
    table.insert(parts, who .. (#assistants > 1 and ' are' or ' is') .. ' attached')
  end
  if core and core.port then
    table.insert(parts, ('running, port %d, process %d'):format(core.port, core.process.pid))
  else
    table.insert(parts, now == 'attached' and 'by a core of its own' or now)
  end
  return table.concat(parts, '; ')
end

---@return dapeer.Status
function M.status()
  local core = current()
  local assistants, waits = require('dapeer.person.actions').assistants(), require('dapeer.person.waiting').list()
  return {
    assistants = assistants,
    waits = waits,
    text = text(assistants, waits),
    state = state(),
    summary = summary(assistants),
    held = require('dapeer.person.approvals').held(),
    port = core and core.port,
    pid = core and core.process.pid,
    command = life.core and life.core.command,
    failure = life.failure,
    stderr = life.core and vim.list_slice(life.core.stderr) or {},
  }
end

return M
