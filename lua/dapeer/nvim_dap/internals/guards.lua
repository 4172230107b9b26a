-- What is done at the places of `places.lua`, as far as it can be.
--
-- A place is left alone where nvim-dap is not as it needs it, where the user wants it (`DAPEER_PATCHES` is `off`, or has `-nvim-PLACE`), and
-- once a function of ours has failed there. Sessions are told of it, but where the user wants it.
local M = {}

local places = require('dapeer.nvim_dap.internals.places')

M.lacks = places.lacks

local SWITCHED_OFF = 'switched off by DAPEER_PATCHES'
-- The commit of nvim-dap in `.ci/plugins`, and the oldest release that the code knows.
local TRIED = '0.9 to 9e848e0'

-- Why places are left alone from now on: what a session has not, or how a function of ours has failed.
---@type table<string, string>
local missed = {}

---@param place string
---@return boolean
function M.is_switched_off(place)
  -- Also in luv callbacks.
  local words = vim.split(vim.uv.os_getenv('DAPEER_PATCHES') or '', '[%s,]+')
  return vim.tbl_contains(words, 'off') or vim.tbl_contains(words, '-nvim-' .. place)
end

---Why a place is left alone; nil: it is not.
---@param place string
---@param dap? table
---@return string? problem
function M.problem(place, dap)
  if M.is_switched_off(place) then
    return SWITCHED_OFF
  end
  local check = places.all[place].check
  if missed[place] or not check then
    return missed[place]
  end
  local ok, problem = pcall(check, dap or require('dap'))
  return not ok and tostring(problem) or problem
end

---@type fun(body: table)?
local report

---Have a function called with each place that is left alone from now on: its name, what is lost, and why.
---@param reporter fun(body: table)
function M.report_by(reporter)
  report = reporter
end

---@param place string
---@return string
local function lost_without(place)
  local lost = places.all[place].lost
  return lost:sub(1, 1):upper() .. lost:sub(2) .. '.'
end

---@param place string
---@return table
local function body_of(place)
  return { name = 'nvim-' .. place, lost = lost_without(place), why = missed[place] }
end

---All places that are left alone, but those that the user has switched off.
---@return table[]
function M.left_alone()
  local found = {}
  for place in vim.spairs(missed) do
    found[#found + 1] = body_of(place)
  end
  return found
end

---Leave a place alone from now on, and tell all sessions of it. Legal in a luv callback.
---@param place string
---@param why any  what a session has not, or an error
function M.fail(place, why)
  if missed[place] then
    return
  end
  missed[place] = tostring(why)
  if report then
    vim.schedule_wrap(report)(body_of(place))
  end
end

---Whether a place can be used; sessions are told where it cannot.
---@param place string
---@param dap? table
---@param lacking? string|false  what a session has not
---@return boolean
---@return string? problem
function M.usable(place, dap, lacking)
  local problem = M.problem(place, dap) or lacking or nil
  if problem and problem ~= SWITCHED_OFF then
    M.fail(place, problem)
  end
  return problem == nil, problem
end

---Call a function of ours at a place, unless that is left alone. Where it raises, the place is left alone from now on.
---@param place string
---@param ours function
---@return boolean done
---@return any result
function M.try(place, ours, ...)
  if missed[place] then
    return false
  end
  local ok, result = pcall(ours, ...)
  if not ok then
    M.fail(place, result)
  end
  return ok, ok and result or nil
end

---Stand before a function of nvim-dap: `wrap` gets it, and returns what is called in its place. Where that raises, the stock function
---does the work of that call, and the place is left alone from now on. What the stock function raises is raised.
---@param place string
---@param stock function
---@param wrap fun(stock: function): function
---@return function
function M.before(place, stock, wrap)
  local done, raised
  local function call(...)
    local results = vim.F.pack_len(pcall(stock, ...))
    if not results[1] then
      raised = { results[2] }
      error(results[2], 0)
    end
    done = results
    return unpack(results, 2, results.n)
  end
  local ok, ours = M.try(place, wrap, call)
  return function(...)
    if not ok or missed[place] then
      return stock(...)
    end
    done, raised = nil, nil
    local results = vim.F.pack_len(pcall(ours, ...))
    if results[1] then
      return unpack(results, 2, results.n)
    elseif raised and raised[1] == results[2] then
      error(results[2], 0)
    end
    M.fail(place, results[2])
    if done then
      return unpack(done, 2, done.n)
    end
    return stock(...)
  end
end

---The places, by name; `problem` says why one is left alone. nvim-dap is loaded.
---@return { name: string, lost: string, problem?: string }[]
function M.list()
  local found = {}
  for place, each in vim.spairs(places.all) do
    table.insert(found, { name = each.name, lost = each.lost, problem = M.problem(place) })
  end
  return found
end

---The rows that `dapeer doctor --patches` shows, as JSON.
---@return string
function M.rows()
  local rows = {}
  for place in vim.spairs(places.all) do
    table.insert(rows, {
      name = 'nvim-' .. place,
      whose = 'nvim-dap',
      tried = TRIED,
      lost = lost_without(place),
      off = M.problem(place) or '',
    })
  end
  return vim.json.encode(rows)
end

return M
