-- OpenCode in opencode.nvim gets dapeer's tools: the core registers itself with its server, for each directory in which
-- the person works. What is known here is told to it: which server that is, and which directories.
local M = {}

---@type dapeer.OpenCodeState
local state = require('dapeer.integrations.opencode.state')
local watching = false -- this copy of the module does

local GRACE = 2000 -- ms without a server after which the core ends: opencode.nvim may replace its server

local function plugin()
  return require('dapeer.integrations.opencode.plugin')
end

local function reports()
  return require('dapeer.integrations.opencode.reports')
end

---@param again? boolean  the core is to look whether it is registered still
local function update(again)
  require('dapeer.integrations.opencode.server').review(again)
end

-- A core that was started for OpenCode alone ends with it.
local function dismiss_later()
  vim.defer_fn(function()
    if not state.url then
      require('dapeer.core.supervisor').dismiss_guest('opencode')
    end
  end, GRACE)
end

---@param url string?
local function set_url(url)
  if url ~= state.url then
    state.url, state.directories, state.problem = url, {}, nil
    if not url then
      dismiss_later()
    end
  end
end

-- Tell of the server and the directories of this moment. Those of earlier have the tools still.
---@param again? boolean
local function look(again)
  for _, directory in ipairs(state.enabled and state.url and plugin().directories() or {}) do
    if not vim.tbl_contains(state.directories, directory) then
      table.insert(state.directories, directory)
    end
  end
  update(again)
end

-- There is somebody who wants the tools. A core that cannot be kept alive has been told of; trying again would only
-- tell it again.
local function start()
  local supervisor = require('dapeer.core.supervisor')
  if state.enabled and not supervisor.is_running() and not supervisor.status().failure then
    supervisor.start_as_guest()
  end
end

-- What the plugin's state says, which is more than its events in versions that have none.
local function review()
  if not state.enabled then
    return
  end
  local url = plugin().url()
  if url and url ~= state.url then
    set_url(url)
    start()
  elseif not url then
    set_url(nil)
  end
  look()
end

local function follow()
  local loaded = package.loaded['opencode.state']
  if loaded and state.subscribed ~= loaded and plugin().subscribe(vim.schedule_wrap(review)) then
    state.subscribed = loaded
  end
end

---@type table<string, fun(properties: table)>
local ON = {
  ['custom.server_starting'] = start,
  ['custom.server_ready'] = function(properties)
    local url = type(properties.url) == 'string' and properties.url:gsub('/+$', '') or plugin().url()
    if url then
      set_url(url)
      start()
      -- It may be another than before, at the same place.
      look(true)
    end
  end,
  ['custom.server_stopped'] = function()
    -- Told also of a server that another one has replaced.
    if plugin().url() ~= state.url or not plugin().loaded() then
      set_url(nil)
    end
    review()
    -- A server that never was ready has had no address.
    if not state.url then
      dismiss_later()
    end
  end,
  ['server.connected'] = function()
    -- What happened before has not been heard of.
    look(true)
  end,
}

local function watch()
  local group = vim.api.nvim_create_augroup('dapeer_opencode', { clear = true })
  local function on(event, pattern, callback)
    vim.api.nvim_create_autocmd(event, { group = group, pattern = pattern, callback = callback })
  end
  for name, handle in pairs(ON) do
    on('User', 'OpencodeEvent:' .. name, function(autocommand)
      local event = type(autocommand.data) == 'table' and autocommand.data.event
      local properties = type(event) == 'table' and type(event.properties) == 'table' and event.properties or {}
      vim.schedule(function()
        if state.enabled then
          follow()
          handle(properties)
        end
      end)
    end)
  end
  local function later(again)
    return vim.schedule_wrap(function()
      look(again)
    end)
  end
  on('User', { 'DapeerReady', 'DapeerStopped' }, later(false))
  on('DirChanged', { 'global', 'tabpage' }, later(true))
  on('User', 'DapeerDetached', function(event)
    reports().gone(event.data.channel)
  end)
  -- Its windows: it has been loaded.
  on('FileType', 'opencode*', function()
    vim.schedule(function()
      follow()
      review()
    end)
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
    set_url(nil)
    update()
  end
end

---Take what a core tells of its registration.
---@param channel integer
---@param report dapeer.OpenCodeReport
function M.take(channel, report)
  reports().take(channel, report)
end

---What there is to know, for `:checkhealth`.
---@return { url?: string, loaded: boolean, entries: dapeer.OpenCodeEntry[] }
function M.status()
  return { url = state.url, loaded = plugin().loaded(), entries = reports().list() }
end

return M
