-- What OpenCode servers know of our core: one entry for each server and directory, which is brought step by step to
-- what is wanted of it, one request at a time.
local M = {}

local TIMEOUT = 60 * 60 * 1000 -- ms that a call may take; OpenCode's own default is one minute

---@type dapeer.OpenCodeState
local state = require('dapeer.integrations.opencode.state')

-- The core that clients can be sent to.
---@return dapeer.Status?
local function core()
  local status = require('dapeer.core.supervisor').status()
  return state.enabled and status.port and status or nil
end

---@param status dapeer.Status  as it was
local function is_current(status)
  local now = core()
  return now ~= nil and now.pid == status.pid
end

---@param what 'connected'|'disconnected'
local function announce(what, entry)
  pcall(vim.api.nvim_exec_autocmds, 'User', {
    pattern = what == 'connected' and 'DapeerOpenCodeConnected' or 'DapeerOpenCodeDisconnected',
    modeline = false,
    data = { url = entry.url, directory = entry.directory, name = entry.name },
  })
end

---Tell why it does not work, once, until it does again.
---@param entry dapeer.OpenCodeEntry?
---@param sentence string?
function M.trouble(entry, sentence)
  if entry then
    entry.problem = sentence
  end
  if sentence and sentence ~= state.problem then
    require('dapeer.person.attention').say(sentence, vim.log.levels.WARN, ' (:checkhealth dapeer)')
  end
  state.problem = sentence
end

---@param path string
---@return dapeer.HttpRequest
local function request(entry, method, path, body)
  return {
    method = method,
    url = ('%s%s?directory=%s'):format(entry.url, path, vim.uri_encode(entry.directory, 'rfc2396')),
    headers = require('dapeer.integrations.opencode.plugin').headers(),
    body = body,
  }
end

local function disconnection(entry)
  return request(entry, 'POST', ('/mcp/%s/disconnect'):format(entry.name), vim.empty_dict())
end

-- Whether a configured server is a core of dapeer.
local function is_ours(config)
  local words = type(config.command) == 'table' and config.command or {}
  return vim.tbl_contains(words, 'stdio')
    and vim.iter(words):any(function(word)
      return type(word) == 'string' and vim.fs.basename(word) == 'dapeer'
    end)
end

-- What the person has configured themselves is there again without us. OpenCode starts it while our core ends, and it
-- would join that core, to end with it.
local function parting(entry)
  local own = entry.own
  if not own then
    return disconnection(entry)
  elseif is_ours(own) then
    own = vim.deepcopy(own)
    table.insert(own.command, '--no-bridge')
  end
  return request(entry, 'POST', '/mcp', { name = entry.name, config = own })
end

-- The person's own configuration of dapeer in OpenCode, which it hides while a core is registered.
local function look_up(entry, done)
  require('dapeer.integrations.http').request(request(entry, 'GET', '/config'), function(answer)
    local config = answer and answer.status == 200 and answer.body
    local servers = type(config) == 'table' and type(config.mcp) == 'table' and config.mcp or {}
    entry.own, entry.twice = false, {}
    for name, server in vim.spairs(servers) do
      local on = type(server) == 'table' and server.type and server.enabled ~= false
      if on and name == entry.name then
        entry.own = server
      elseif on and is_ours(server) then
        table.insert(entry.twice, name)
      end
    end
    done()
  end)
end

-- What an answer says of us; nil when we are connected.
---@param answer dapeer.HttpAnswer?
---@param problem string?
---@return string? sentence
local function refusal(entry, answer, problem)
  if not answer then
    return ('The tools could not be registered with OpenCode at %s (%s).'):format(entry.url, problem)
  elseif answer.status == 401 then
    return 'OpenCode requires a password: give `server.password` to opencode.nvim, or set OPENCODE_SERVER_PASSWORD.'
  elseif answer.status == 404 or answer.status == 405 then
    return 'OpenCode cannot add tools while it runs: update OpenCode.'
  end
  local told = type(answer.body) == 'table' and answer.body[entry.name]
  if answer.status ~= 200 or type(told) ~= 'table' then
    return ('OpenCode rejected the tools (HTTP %d): update it, or see its log.'):format(answer.status)
  elseif told.status ~= 'connected' then
    local why = told.error or told.status
    return ('OpenCode cannot reach the tools (%s): is it in a container, or behind a proxy?'):format(why)
  end
end

local function introduce(entry, status, done)
  local config = {
    type = 'remote',
    url = require('dapeer.core.supervisor').url(),
    headers = { Authorization = 'Bearer ' .. require('dapeer.core.supervisor').token() },
    oauth = false,
    enabled = true,
    timeout = TIMEOUT,
  }
  local body = { name = entry.name, config = config }
  require('dapeer.integrations.http').request(request(entry, 'POST', '/mcp', body), function(answer, problem)
    local sentence = refusal(entry, answer, problem)
    entry.core = not sentence and status.pid or nil
    -- A server that has ended meanwhile is no failure, nor is a core.
    if not entry.leaving and is_current(status) then
      M.trouble(entry, sentence)
    end
    if entry.core then
      announce('connected', entry)
    end
    done()
  end)
end

local function register(entry, status, done)
  look_up(entry, function()
    if is_current(status) then
      introduce(entry, status, done)
    else
      entry.again = true
      done()
    end
  end)
end

-- OpenCode may have forgotten us, or not.
local function verify(entry, done)
  entry.doubt = nil
  require('dapeer.integrations.http').request(request(entry, 'GET', '/mcp'), function(answer, problem)
    if refusal(entry, answer, problem) then
      entry.core = nil
      entry.again = true
    end
    done()
  end)
end

local function disconnect(entry, done)
  entry.core = nil
  local function part()
    require('dapeer.integrations.http').request(parting(entry), function()
      announce('disconnected', entry)
      done()
    end)
  end
  if entry.own == nil then
    look_up(entry, part)
  else
    part()
  end
end

local function remove(entry)
  require('dapeer.integrations.opencode.names').release(entry.claim)
  for key, other in pairs(state.entries) do
    if other == entry then
      state.entries[key] = nil
    end
  end
end

---One step towards what is wanted now; others follow.
---@param entry dapeer.OpenCodeEntry
function M.settle(entry)
  if entry.busy then
    entry.again = true
    return
  end
  entry.again = nil
  if entry.forgotten then
    entry.forgotten, entry.core = nil, nil
  end
  local function done()
    entry.busy = nil
    if entry.again or entry.leaving then
      M.settle(entry)
    end
  end
  local status = not entry.leaving and core() or nil
  entry.busy = true
  if entry.core and not status then
    disconnect(entry, done)
  elseif entry.leaving then
    remove(entry)
  elseif status and entry.core ~= status.pid then
    register(entry, status, done)
  elseif status and entry.doubt then
    verify(entry, done)
  else
    entry.busy = nil
  end
end

---@param entry dapeer.OpenCodeEntry
---@param gone? boolean  the server is: there is nobody to tell
function M.leave(entry, gone)
  entry.leaving = true
  if gone and entry.core then
    entry.core = nil
    announce('disconnected', entry)
  end
  M.settle(entry)
end

---The core is wanted there.
---@param url string
---@param directory string
function M.want(url, directory)
  local key = url .. '\n' .. directory
  local entry = state.entries[key]
  if not entry then
    entry = require('dapeer.integrations.opencode.names').take(url, directory)
    entry.url = url
    state.entries[key] = entry
  end
  entry.leaving = nil
end

---What a Neovim that was killed has left at a server is to leave.
---@param url string
function M.adopt(url)
  for _, entry in ipairs(require('dapeer.integrations.opencode.names').abandoned(url)) do
    entry.url, entry.core, entry.leaving = url, 0, true
    state.entries[entry.claim] = entry
  end
end

---All of them; any may be left meanwhile.
---@return dapeer.OpenCodeEntry[]
function M.list()
  local entries = vim.tbl_values(state.entries)
  table.sort(entries, function(one, other)
    return one.directory < other.directory
  end)
  return entries
end

---Neovim ends: its loop turns no more, and the server may outlive it.
function M.last_words()
  for _, entry in ipairs(M.list()) do
    if entry.core then
      -- Giving back what was replaced takes OpenCode a while, and is broken off when we hang up.
      require('dapeer.integrations.http').send(disconnection(entry))
    end
    require('dapeer.integrations.opencode.names').release(entry.claim)
  end
  state.entries = {}
end

return M
