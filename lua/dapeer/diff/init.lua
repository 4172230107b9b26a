-- Diffs that the assistant proposes and the person decides: what tools and commands call.
local M = {}

local CLOSED = 'The assistant has closed it.'

---@class dapeer.DiffArguments
---@field old_file_path? string
---@field new_file_path string
---@field new_file_contents string
---@field tab_name? string

local function life()
  return require('dapeer.diff.life')
end

---@param args dapeer.DiffArguments
---@param file string
---@return string?
local function refusal(args, file)
  local problem = require('dapeer.diff.sides').refusal(args, file)
  if not problem and #vim.api.nvim_list_uis() == 0 then
    return 'No person can review a diff in this Neovim: it has no user interface. Ask the person in another way.'
  end
  return problem
end

-- Never under the hands of a person who types.
---@param diff dapeer.Diff
---@param sides dapeer.Sides
local function show(diff, sides)
  local attention = require('dapeer.person.attention')
  if attention.busy() then
    attention.say('a diff opens when you have stopped typing: ' .. diff.name)
  end
  diff.done = require('dapeer.person.waiting').add('a diff waits for you: ' .. diff.name)
  diff.wait = attention.when_free(function()
    life().show(diff, sides)
  end)
end

-- Reading a URI would fetch it, and Neovim wait meanwhile.
---@param path string
---@return boolean
local function is_path(path)
  return path ~= '' and not path:find('%z') and (vim.startswith(path, 'file://') or not path:find('^%a[%w+.-]+://'))
end

---Show a proposal beside what there is, and answer when the person has decided.
---@param cb fun(result: any, err?: string)
---@param args dapeer.DiffArguments
---@param ctx dapeer.Context
function M.open(cb, args, ctx)
  for _, path in ipairs({ args.new_file_path, args.old_file_path }) do
    if not is_path(path) then
      local given = path == '' and 'An empty path' or path:gsub('%z', '?')
      return cb(nil, ('%s is not a file. Give the path of a file.'):format(given))
    end
  end
  local editor = require('dapeer.editor')
  local file = editor.absolute(args.new_file_path)
  local problem = refusal(args, file)
  if problem then
    return cb(nil, problem)
  end
  local caller = ctx.caller or {}
  local diff = life().new({ tab_name = args.tab_name, file = file, caller = caller, answer = cb })
  ctx.on_cancel(function()
    life().decide(diff, 'rejected', { reason = 'The assistant no longer waits for it.' })
  end)
  ctx.if_lost(life().lost(diff))
  ctx.progress(('waiting for the person to review %s'):format(diff.name))
  local old = args.old_file_path and editor.absolute(args.old_file_path) or file
  require('dapeer.diff.sides').get(old, file, args.new_file_contents, function(sides, failure)
    if diff.outcome then
      return
    elseif not sides then
      return life().fail(diff, failure)
    end
    show(diff, sides)
  end)
end

-- -- by the person, with commands

-- The diff that the person is in, or the only one.
---@return dapeer.Diff? diff
---@return string? problem
local function meant()
  local pending = life().pending()
  local here = vim.iter(pending):find(function(diff)
    return diff.id == vim.b.dapeer_diff or (diff.view and require('dapeer.diff.view').has_person(diff.view))
  end)
  local shown = vim.tbl_filter(function(diff)
    return diff.view ~= nil
  end, pending)
  if here or #shown == 1 then
    return here or shown[1]
  end
  if #shown == 0 then
    return nil, 'there is no diff to review'
  end
  return nil, 'several diffs are pending: go to one, see :Dapeer diffs'
end

---Accept or reject the diff that the person is in, or the only one.
---@param what 'accept'|'reject'
---@param reason? string
---@return string? problem  a few words
function M.decide(what, reason)
  local diff, problem = meant()
  if not diff then
    return problem
  end
  life().by_person(diff)(what, reason)
end

---The diffs that wait, a line each.
---@return string[]
function M.lines()
  return vim.tbl_map(function(diff)
    local shown = diff.view and vim.api.nvim_tabpage_is_valid(diff.view.tab)
    local where = shown and 'tab page ' .. vim.api.nvim_tabpage_get_number(diff.view.tab) or 'not shown yet'
    local client = diff.caller.client and ('  [%s]'):format(diff.caller.client) or ''
    local line = ('%s  (%s)  %s%s'):format(where, diff.name, diff.tab_name, client)
    return (line:gsub('\n', ' '))
  end, life().pending())
end

-- -- by the assistant

---Close the diffs of this name of one caller.
---@param caller table
---@param tab_name string
function M.close_tab(caller, tab_name)
  life().settle(caller, tab_name)
  for _, diff in ipairs(life().pending()) do
    if diff.tab_name == tab_name and life().same(diff.caller, caller) then
      life().decide(diff, 'rejected', { reason = CLOSED })
    end
  end
end

---Close the diffs of one caller.
---@param caller table
---@return integer  how many there were
function M.close_all(caller)
  life().settle(caller)
  local count = 0
  for _, diff in ipairs(life().pending()) do
    if life().same(diff.caller, caller) then
      count = count + 1
      life().decide(diff, 'rejected', { reason = CLOSED })
    end
  end
  return count
end

return M
