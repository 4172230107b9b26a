-- What the core tells of its registrations at OpenCode servers, for the person and their configuration.
local M = {}

---@class dapeer.OpenCodeReport
---@field url string
---@field state 'connected'|'disconnected'|'failed'
---@field directory string
---@field name? string
---@field own? boolean
---@field twice? string[]
---@field problem? string

---@type dapeer.OpenCodeState
local state = require('dapeer.integrations.opencode.state')

---@param url string
---@param directory string
local function key(url, directory)
  return url .. '\n' .. directory
end

---@param what 'DapeerOpenCodeConnected'|'DapeerOpenCodeDisconnected'
local function announce(what, about)
  pcall(vim.api.nvim_exec_autocmds, 'User', {
    pattern = what,
    modeline = false,
    data = { url = about.url, directory = about.directory, name = about.name },
  })
end

-- Why it does not work, once, until it does again.
---@param sentence string?
local function trouble(sentence)
  if sentence and sentence ~= state.problem then
    require('dapeer.person.attention').say(sentence, vim.log.levels.WARN, ' (:checkhealth dapeer)')
  end
  state.problem = sentence
end

---@type table<string, fun(channel: integer, report: dapeer.OpenCodeReport, entry?: dapeer.OpenCodeEntry)>
local ON = {
  connected = function(channel, report)
    state.entries[key(report.url, report.directory)] = {
      url = report.url,
      directory = report.directory,
      name = report.name,
      channel = channel,
      own = report.own,
      twice = report.twice,
    }
    trouble(nil)
    announce('DapeerOpenCodeConnected', report)
  end,
  disconnected = function(_, report, entry)
    -- Of a core that was killed there may be another name.
    if entry and entry.name == report.name then
      entry.channel = nil
    end
    announce('DapeerOpenCodeDisconnected', report)
  end,
  failed = function(_, report)
    state.entries[key(report.url, report.directory)] =
      { url = report.url, directory = report.directory, name = report.name, problem = report.problem }
    trouble(report.problem)
  end,
}

---@param channel integer  of the core that tells
---@param report dapeer.OpenCodeReport
function M.take(channel, report)
  ON[report.state](channel, report, state.entries[key(report.url, report.directory)])
end

---A core has gone, in whatever way: OpenCode cannot reach it any more.
---@param channel integer
function M.gone(channel)
  for _, entry in pairs(state.entries) do
    if entry.channel == channel then
      entry.channel = nil
      announce('DapeerOpenCodeDisconnected', entry)
    end
  end
end

---What is known of the directories that are wanted now.
---@return dapeer.OpenCodeEntry[]
function M.list()
  local entries = {}
  for _, directory in ipairs(state.url and state.directories or {}) do
    entries[#entries + 1] = state.entries[key(state.url, directory)] or { url = state.url, directory = directory }
  end
  table.sort(entries, function(one, other)
    return one.directory < other.directory
  end)
  return entries
end

return M
