-- The assistant's actions: the log, and messages to the person.
local M = {}

local KEPT = 200 -- actions in the log
local LONGEST = 200 -- characters of a text that is shown

---@type dapeer.Action[]  the last ones, oldest first
local log = {}

---@type dapeer.Action[]  not yet in a notification
local unnoticed = {}

---One line of a text, cut with `…`.
---@param text any
---@return string
function M.one_line(text)
  local fitting = require('dapeer.results.fitting')
  return fitting.shortened(fitting.line(tostring(text)), LONGEST)
end

---Null comes over the wire as a value that is true.
---@param action dapeer.Action
---@return dapeer.Action
function M.without_null(action)
  return vim.iter(action):fold({}, function(all, key, value)
    if value ~= vim.NIL then
      all[key] = value
    end
    return all
  end)
end

---@param action dapeer.Action
---@return string
function M.described(action)
  local arguments = action.arguments or ''
  return action.tool .. (arguments == '{}' and '' or ' ' .. arguments)
end

local function notify_all()
  local count, last = #unnoticed, unnoticed[#unnoticed]
  unnoticed = {}
  local more = count > 1 and (' (and %d more)'):format(count - 1) or ''
  local failed = last.ok == false
  local level = failed and vim.log.levels.WARN or vim.log.levels.INFO
  require('dapeer.person.attention').say((failed and 'failed: ' or '') .. M.described(last), level, more)
end

local function notify(action)
  table.insert(unnoticed, action)
  -- Several at once would not fit on one line either.
  if #unnoticed == 1 then
    vim.schedule(notify_all)
  end
end

---Take notice of something that the assistant has done.
---@param action dapeer.Action
function M.note(action)
  action = M.without_null(action)
  table.insert(log, action)
  if #log > KEPT then
    table.remove(log, 1)
  end
  -- What a person's autocommand does is not what the assistant waits for.
  vim.schedule(function()
    pcall(vim.api.nvim_exec_autocmds, 'User', {
      pattern = 'DapeerAction',
      modeline = false,
      data = action,
    })
  end)
  if require('dapeer.config').get().notify then
    notify(action)
  end
end

---The log, a line each, oldest first.
---@return string[]
function M.lines()
  return vim.tbl_map(function(action)
    return ('%s  %-6s  %s%s  → %s'):format(
      os.date('%H:%M:%S', math.floor(action.at or 0)),
      action.ok and 'ok' or 'failed',
      M.one_line(M.described(action)),
      action.client and ('  [%s]'):format(M.one_line(action.client)) or '',
      M.one_line(action.outcome or '')
    )
  end, log)
end

---The assistants that are connected, by the names of their programs; who has acted last comes first.
---@return string[]
function M.assistants()
  local latest, names = {}, {}
  for index, action in ipairs(log) do
    latest[action.client or ''] = index
  end
  for _, core in ipairs(require('dapeer.rpc').attached()) do
    for _, name in ipairs(core.company or {}) do
      if not vim.tbl_contains(names, name) then
        table.insert(names, name)
      end
    end
  end
  table.sort(names, function(one, other)
    local mine, theirs = latest[one] or 0, latest[other] or 0
    return mine > theirs or (mine == theirs and one < other)
  end)
  return names
end

return M
