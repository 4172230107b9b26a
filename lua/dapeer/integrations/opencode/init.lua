-- OpenCode in opencode.nvim gets dapeer's tools: the core is registered with its server, for each directory in which
-- it works, and leaves when the core stops. OpenCode keeps such a registration in memory, for one directory, until
-- that "instance" is disposed of; so it is looked after.
local M = {}

---@type dapeer.OpenCodeState
local state = require('dapeer.integrations.opencode.state')
local watching = false -- this copy of the module does

local function plugin()
  return require('dapeer.integrations.opencode.plugin')
end

local function entries()
  return require('dapeer.integrations.opencode.entries')
end

-- The cores know which server it is.
local function tell()
  require('dapeer.integrations.opencode.server').review()
end

---@param gone? boolean  the server is
local function leave_all(gone)
  state.url, state.problem = nil, nil
  tell()
  for _, entry in ipairs(entries().list()) do
    entries().leave(entry, gone)
  end
end

-- Bring about what is wanted at the server and the directories of this moment.
local function look()
  local url = state.enabled and state.url
  tell()
  if not url then
    return
  end
  for _, entry in ipairs(entries().list()) do
    if entry.url ~= url then
      entries().leave(entry)
    end
  end
  if not require('dapeer.integrations.http').place(url) then
    local sentence = 'OpenCode is on another machine (%s), where it cannot reach the tools: see :help dapeer-opencode.'
    return entries().trouble(nil, sentence:format(url))
  end
  for _, directory in ipairs(plugin().directories()) do
    entries().want(url, directory)
  end
  entries().adopt(url)
  for _, entry in ipairs(entries().list()) do
    entries().settle(entry)
  end
end

-- There is somebody who wants the tools. A core that cannot be kept alive has been told of; trying again would only
-- tell it again.
local function start()
  local supervisor = require('dapeer.core.supervisor')
  if state.enabled and not supervisor.is_running() and not supervisor.status().failure then
    supervisor.start()
  end
end

-- What the plugin's state says, which is more than its events in versions that have none.
local function review()
  if not state.enabled then
    return
  end
  local url = plugin().url()
  if url and url ~= state.url then
    state.url = url
    start()
  elseif not url then
    leave_all(true)
  end
  look()
end

local function follow()
  local loaded = package.loaded['opencode.state']
  if loaded and state.subscribed ~= loaded and plugin().subscribe(vim.schedule_wrap(review)) then
    state.subscribed = loaded
  end
end

-- OpenCode resolves links in the names of directories.
local function resolved(directory)
  return vim.uv.fs_realpath(directory) or directory
end

---@param what 'doubt'|'forgotten'
---@param directory? string  nil: everywhere
local function mark(what, directory)
  for _, entry in ipairs(entries().list()) do
    if directory == nil or resolved(directory) == resolved(entry.directory) then
      entry[what] = true
    end
  end
  look()
end

---@type table<string, fun(properties: table)>
local ON = {
  ['custom.server_starting'] = start,
  ['custom.server_ready'] = function(properties)
    local url = type(properties.url) == 'string' and properties.url:gsub('/+$', '') or plugin().url()
    if url then
      state.url = url
      start()
      -- It may be another than before, at the same place.
      mark('doubt')
    end
  end,
  ['custom.server_stopped'] = function()
    -- Told also of a server that another one has replaced.
    if plugin().url() ~= state.url or not plugin().loaded() then
      leave_all(true)
    end
    review()
  end,
  ['server.connected'] = function()
    -- What happened before has not been heard of.
    mark('doubt')
  end,
  -- It has what its configuration says, which may name us, too.
  ['global.disposed'] = function()
    mark('forgotten')
  end,
  ['server.instance.disposed'] = function(properties)
    mark('forgotten', properties.directory)
  end,
}

local function watch()
  local group = vim.api.nvim_create_augroup('dapeer_opencode', { clear = true })
  local function on(event, pattern, callback)
    vim.api.nvim_create_autocmd(event, { group = group, pattern = pattern, callback = callback })
  end
  for name, handle in pairs(ON) do
    on('User', 'OpencodeEvent:' .. name, function(told)
      local event = type(told.data) == 'table' and told.data.event
      local properties = type(event) == 'table' and type(event.properties) == 'table' and event.properties or {}
      vim.schedule(function()
        if state.enabled then
          follow()
          handle(properties)
        end
      end)
    end)
  end
  on('User', { 'DapeerReady', 'DapeerStopped' }, vim.schedule_wrap(look))
  on('DirChanged', { 'global', 'tabpage' }, vim.schedule_wrap(look))
  -- Its windows: it has been loaded.
  on('FileType', 'opencode*', function()
    vim.schedule(function()
      follow()
      review()
    end)
  end)
  on('VimLeavePre', '*', function()
    entries().last_words()
  end)
end

---Follow opencode.nvim, whether it is loaded already or will be.
function M.enable()
  if not state.enabled or not watching then
    state.enabled, watching = true, true
    watch()
    follow()
    review()
  end
end

---Leave OpenCode.
function M.disable()
  if state.enabled then
    state.enabled, watching = false, false
    vim.api.nvim_del_augroup_by_name('dapeer_opencode')
    leave_all()
  end
end

---What there is to know, for `:checkhealth`.
---@return { url?: string, loaded: boolean, problem?: string, entries: dapeer.OpenCodeEntry[] }
function M.status()
  return { url = state.url, loaded = plugin().loaded(), problem = state.problem, entries = entries().list() }
end

return M
