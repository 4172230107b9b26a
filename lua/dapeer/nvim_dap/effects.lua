--- What the assistant has changed in a stopped program, shown to the person at once.
---
--- nvim-dap asks for the scopes of a frame at a stop, and keeps them. What changes a value meanwhile makes it ask
--- again, as nvim-dap does after a change by the person; its own views, nvim-dap-ui's and nvim-dap-view's follow
--- the answer. What has changed stands beside the line of the stop for a moment.
local M = {}

local KEY = 'dapeer.effects'
local MOMENT = 4000 -- ms
local MOST = 3 -- values that are named
local LONGEST = 40 -- characters of a value

local marks = vim.api.nvim_create_namespace('dapeer.effects')

---@alias dapeer.Values table<string, table<string, string>>  by scope and name

---@class dapeer.Refresh
---@field before dapeer.Values
---@field left? table<integer, true>  references of the scopes that have not been answered
---@field again? boolean              something else has changed meanwhile

---@type table<dap.Session, dapeer.Refresh>
local refreshes = setmetatable({}, { __mode = 'k' })

---@param frame dap.StackFrame
---@return dapeer.Values
local function values(frame)
  local found = {}
  for _, scope in ipairs(frame.scopes or {}) do
    found[scope.name] = {}
    for _, variable in ipairs(scope.variables or {}) do
      found[scope.name][variable.name] = variable.value
    end
  end
  return found
end

---@param before dapeer.Values
---@param after dapeer.Values
---@return string[] changes  such as `total = 7`
local function compared(before, after)
  local changes = {}
  for scope, variables in pairs(after) do
    for name, value in pairs(before[scope] and variables or {}) do
      if before[scope][name] ~= value then
        local fitting = require('dapeer.results.fitting')
        local short = fitting.shortened(fitting.line(value), LONGEST)
        -- At the top level of a module its locals are its globals.
        changes[('%s = %s'):format(fitting.shortened(fitting.line(name), LONGEST), short)] = true
      end
    end
  end
  changes = vim.tbl_keys(changes)
  table.sort(changes)
  return changes
end

---@param frame dap.StackFrame
---@param changes string[]
local function mark(frame, changes)
  local path = frame.source and frame.source.path
  local buffer = path and vim.fn.bufnr(path) or -1
  if #changes == 0 or buffer < 0 or not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  local text = table.concat(vim.list_slice(changes, 1, MOST), ', ')
  if #changes > MOST then
    text = ('%s and %d more'):format(text, #changes - MOST)
  end
  vim.api.nvim_set_hl(0, 'DapeerChanged', { link = 'DiffText', default = true })
  local ok, id = pcall(vim.api.nvim_buf_set_extmark, buffer, marks, frame.line - 1, 0, {
    virt_text = { { ' ' .. text .. ' ', 'DapeerChanged' } },
  })
  if ok then
    vim.defer_fn(function()
      pcall(vim.api.nvim_buf_del_extmark, buffer, marks, id)
    end, MOMENT)
  end
end

---@param session dap.Session
local function refresh(session)
  local frame = session.stopped_thread_id and session.current_frame
  if not frame or not frame.scopes then
    return
  elseif refreshes[session] then
    refreshes[session].again = true
    return
  end
  refreshes[session] = { before = values(frame) }
  if not require('dapeer.nvim_dap.internals').frames.request_scopes(session, frame) then
    refreshes[session] = nil
  end
end

---@param session dap.Session
local function finish(session)
  local done = refreshes[session]
  refreshes[session] = nil
  mark(session.current_frame, compared(done.before, values(session.current_frame)))
  if done.again then
    refresh(session)
  end
end

---The scopes are there; nvim-dap asks for the variables of each that costs little.
---@param session dap.Session
---@param err any
local function on_scopes(session, err)
  local running = refreshes[session]
  if not running or running.left then
    return
  elseif err then
    refreshes[session] = nil
    return
  end
  running.left = {}
  for _, scope in ipairs(session.current_frame.scopes or {}) do
    if not scope.expensive then
      running.left[scope.variablesReference] = true
    end
  end
end

---@param session dap.Session
---@param arguments table
local function on_variables(session, arguments)
  local running = refreshes[session]
  local left = running and running.left
  if left and left[arguments.variablesReference] then
    left[arguments.variablesReference] = nil
    if next(left) == nil then
      finish(session)
    end
  end
end

---Look again, when a request of the core may have changed a value.
---@param session dap.Session
---@param command string
---@param arguments table
function M.after(session, command, arguments)
  local evaluates = command == 'evaluate' and (arguments.context or 'repl') == 'repl'
  if evaluates or command == 'setVariable' or command == 'setExpression' then
    refresh(session)
  end
end

---@param dap table
function M.install(dap)
  dap.listeners.after.scopes[KEY] = function(session, err)
    pcall(on_scopes, session, err)
  end
  dap.listeners.after.variables[KEY] = function(session, _, _, arguments)
    pcall(on_variables, session, arguments)
  end
  dap.listeners.before.event_stopped[KEY] = function(session)
    refreshes[session] = nil
  end
end

return M
