--- One set of exception filters: the person's are the cores', and the other way round.
---
--- nvim-dap keeps none. It sends `dap.defaults…exception_breakpoints` to each program that starts, and to the one in
--- focus what `dap.set_exception_breakpoints()` is given. So what was chosen last, by whomever, is kept here, and heeded
--- at starts instead of those defaults until the person changes these. How an adapter is asked for a type of exceptions,
--- or for a condition, the cores know: a program that is to stop at one waits for them (collecting.lua).
local M = {}

local KEY = 'dapeer.exceptions'

---@class dapeer.Exceptions
---@field filters? string[]  each a filter, a type of exceptions, or FILTER:TYPE, FILTER:CONDITION; nil: nobody has chosen
---@field defaults table<string, any>  nvim-dap's, by adapter type, when they were chosen

---@type dapeer.Exceptions
local chosen = require('dapeer.kept').part('exceptions', { defaults = {} })

---The arguments of the cores' own requests: the very tables that nvim-dap hands to its listeners.
---@type table<table, true>
local own_requests = setmetatable({}, { __mode = 'k' })

---Sessions that nvim-dap has not sent its defaults yet.
---@type table<dap.Session, true>
local starting = setmetatable({}, { __mode = 'k' })

---@return table<string, any>
local function defaults()
  local found = {}
  for kind, values in pairs(package.loaded['dap'] and require('dap').defaults or {}) do
    found[kind] = vim.deepcopy(rawget(values, 'exception_breakpoints'))
  end
  return found
end

---@param filters string[]?
local function choose(filters)
  chosen.filters, chosen.defaults = filters, defaults()
end

---What the person has chosen is chosen for the cores, too.
---@param filters string[]?
local function share(filters)
  choose(filters)
  require('dapeer.rpc').notify('exceptions', filters or vim.NIL)
end

---A core has chosen.
---@param filters string[]|vim.NIL
function M.take(filters)
  choose(filters ~= vim.NIL and filters or nil)
end

---What programs stop at: what was chosen, else the person's default for all kinds of programs, where it names filters.
---@return string[]?
function M.filters()
  local default = not chosen.filters and (defaults().fallback or nil)
  return chosen.filters or type(default) == 'table' and default or nil
end

---What was chosen, in a sentence; nil: nothing.
---@return string?
function M.summary()
  local filters = M.filters()
  if not filters then
    return
  end
  local summary = 'programs stop at exceptions: ' .. (#filters > 0 and table.concat(filters, ', ') or 'none')
  local alone = #filters > 0 and #require('dapeer.rpc').attached() == 0
  return summary .. (alone and ' (at a type or a condition only while an assistant is attached)' or '')
end

---Notice that a core asks a session for filters. Legal in a luv callback.
---@param arguments table
function M.own(arguments)
  own_requests[arguments] = true
end

---What a program that starts is to stop at, its start's own filters or those that were chosen; nil: nvim-dap's defaults.
---@param session dap.Session
---@return string[]?
---@return boolean? own
local function filters_at_start(session)
  local _, _, own = require('dapeer.nvim_dap.launch').claim(session)
  if own then
    return own, true
  elseif chosen.filters and vim.deep_equal(defaults(), chosen.defaults) then
    return chosen.filters
  end
end

---Those of some filters that a session's adapter has.
---@param session dap.Session
---@param filters string[]
---@return string[]
local function offered(session, filters)
  local known = {}
  for _, each in ipairs(vim.tbl_get(session, 'capabilities', 'exceptionBreakpointFilters') or {}) do
    known[each.filter] = true
  end
  return vim.tbl_filter(function(filter)
    return known[filter]
  end, filters)
end

---Whether the adapter itself does not know all that a program is to stop at, so that the cores say how it is asked.
---@param session dap.Session
---@return boolean
function M.need_a_core(session)
  local filters = filters_at_start(session)
  return filters ~= nil and #offered(session, filters) < #filters
end

---Ask a program that starts for the exceptions that a core has named.
---@param session dap.Session
---@param arguments table  of `setExceptionBreakpoints`
function M.heed(session, arguments)
  if not vim.tbl_get(session, 'capabilities', 'exceptionBreakpointFilters') then
    return -- nvim-dap does not ask it
  end
  require('dapeer.nvim_dap.internals').set_exceptions_once(session, arguments)
end

---Before nvim-dap sends its defaults to a program that starts.
---@param session dap.Session
local function starts(session)
  starting[session] = true
  local filters, own = filters_at_start(session)
  local default = require('dap').defaults[session.config.type].exception_breakpoints
  if filters then
    local found = offered(session, filters)
    if own or #found > 0 or #filters == 0 then
      M.heed(session, { filters = found })
    end
  elseif type(default) == 'table' or chosen.filters then
    share(type(default) == 'table' and vim.deepcopy(default) or nil)
  end
end

---@param session dap.Session
---@param arguments any
local function accepted(session, arguments)
  local first = starting[session]
  starting[session] = nil
  if first or type(arguments) ~= 'table' or own_requests[arguments] then
    return
  elseif arguments.exceptionOptions then
    -- What these mean the cores can say in words, and tell it to all.
    return require('dapeer.rpc').notify('exception_options', session.id, arguments.exceptionOptions)
  end
  share(vim.deepcopy(arguments.filters or {}))
end

---@param dap table
function M.install(dap)
  if chosen.filters then
    chosen.defaults = defaults()
  end
  dap.listeners.before.event_initialized[KEY] = function(session)
    pcall(starts, session)
  end
  dap.listeners.before.setExceptionBreakpoints[KEY] = function(session, err, _, arguments)
    if not err then
      pcall(accepted, session, arguments)
    end
  end
end

return M
