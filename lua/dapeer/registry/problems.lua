-- Problems of the person's tools: shown in one line when found, and kept for `:checkhealth dapeer`
-- until it is so no longer.
local M = {}

local PAUSE = 500 -- ms between two lines: the second one at once would make Neovim wait for a key
local MOST = 100

---@alias dapeer.Concern
---| 'group'  a group of built-in tools cannot be loaded
---| 'setup'  a tool in `custom_tools` is invalid
---| 'core'   a core cannot take a tool
---| 'call'   a handler has misbehaved

---@class dapeer.Problem
---@field concern dapeer.Concern
---@field name string      of the tool, or the group
---@field sentence string

---@type dapeer.Problem[]  oldest first
local problems = require('dapeer.kept').part('problems')

---@type dapeer.Problem[]
local unreported = {}
local reporting = false

---@param found dapeer.Problem[]
local function line(found)
  if #found == 1 then
    return found[1].sentence
  end
  local names, served = {}, false
  for _, problem in ipairs(found) do
    served = served or problem.concern == 'call'
    if not vim.tbl_contains(names, problem.name) then
      table.insert(names, problem.name)
    end
  end
  local what = served and 'went wrong with these tools' or ('%d tools are not served'):format(#names)
  return ('%s: %s; see :checkhealth dapeer'):format(what, table.concat(names, ', '))
end

local function report()
  -- What has been put right meanwhile is no problem.
  local fresh = vim.tbl_filter(function(problem)
    return vim.tbl_contains(problems, problem)
  end, unreported)
  unreported, reporting = {}, #fresh > 0
  if reporting then
    require('dapeer.person.attention').warn(line(fresh))
    vim.defer_fn(report, PAUSE)
  end
end

local function remove(matches)
  for index = #problems, 1, -1 do
    if matches(problems[index]) then
      table.remove(problems, index)
    end
  end
end

---Record a problem; a known one is not shown again. Legal in a luv callback.
---@param concern dapeer.Concern
---@param name string
---@param sentence string
function M.note(concern, name, sentence)
  for _, known in ipairs(problems) do
    if known.concern == concern and known.name == name and known.sentence == sentence then
      return
    end
  end
  -- A tool that can be called may do several things wrong.
  if concern ~= 'call' then
    M.clear(name, concern)
  end
  local problem = { concern = concern, name = name, sentence = sentence }
  table.insert(problems, problem)
  if #problems > MOST then
    table.remove(problems, 1)
  end
  table.insert(unreported, problem)
  if not reporting then
    reporting = true
    -- Several that come in one go make one line.
    vim.schedule(report)
  end
end

---What was wrong with a tool is so no longer, or is found anew.
---@param name? string             nil: with any
---@param concern? dapeer.Concern  nil: any
function M.clear(name, concern)
  remove(function(problem)
    return problem.name == (name or problem.name) and problem.concern == (concern or problem.concern)
  end)
end

---Whether something is wrong with a tool.
---@param concern dapeer.Concern
---@param name string
---@return boolean
function M.has(concern, name)
  return vim.iter(problems):any(function(problem)
    return problem.concern == concern and problem.name == name
  end)
end

---@return string[]  a sentence each
function M.list()
  return vim.tbl_map(function(problem)
    return problem.sentence
  end, problems)
end

return M
