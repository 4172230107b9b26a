-- The life of a diff: it is shown, decided once, closed.
local M = {}

local SAVED, REJECTED = 'FILE_SAVED', 'DIFF_REJECTED'

---@class dapeer.Diff
---@field id integer
---@field tab_name string
---@field file string          absolute path of what is proposed
---@field name string          the same for people
---@field group integer        of its autocommands
---@field caller table
---@field answer fun(result: any, err?: string)
---@field is_new boolean
---@field view? dapeer.View    nil until it is shown
---@field outcome? 'accepted'|'rejected'
---@field done? fun()         withdraws it from the waiting list
---@field wait? fun()         it waits no longer for a person who types

---@class dapeer.Accepted
---@field caller table
---@field tab_name string
---@field file string          that its caller is about to write

---@class dapeer.Diffs
---@field pending table<integer, dapeer.Diff>  by id
---@field shown table<integer, dapeer.Diff>    those whose windows are still there
---@field accepted table<string, dapeer.Accepted>  by caller and tab name
---@field last integer
local state = require('dapeer.kept').part('diffs', { pending = {}, shown = {}, accepted = {}, last = 0 })

local function announce(event, diff, more)
  local data = { tab_name = diff.tab_name, file = diff.file, new_file = diff.is_new }
  local event_data = vim.tbl_extend('force', data, more)
  pcall(vim.api.nvim_exec_autocmds, 'User', { pattern = event, modeline = false, data = event_data })
end

---The pending diffs, oldest first.
---@return dapeer.Diff[]
function M.pending()
  local diffs = vim.tbl_values(state.pending)
  table.sort(diffs, function(one, other)
    return one.id < other.id
  end)
  return diffs
end

---Whether two calls come from the same assistant: only its own diffs are an assistant's to close.
---@param one table
---@param other table
---@return boolean
function M.same(one, other)
  return one.channel == other.channel and one.client == other.client
end

local function key(diff)
  return ('%s\0%s\0%s'):format(diff.caller.channel, diff.caller.client, diff.tab_name)
end

-- The tab page of a diff that is still to be reviewed.
local function next_tab(id)
  local following = vim.iter(M.pending()):find(function(diff)
    return diff.id ~= id and diff.view ~= nil and vim.api.nvim_tabpage_is_valid(diff.view.tab)
  end)
  return following and following.view.tab
end

local function result(diff, text, reason)
  local content = { { type = 'text', text = text and SAVED or REJECTED } }
  table.insert(content, { type = 'text', text = text or diff.tab_name })
  if reason then
    table.insert(content, { type = 'text', text = reason })
  end
  return { content = content }
end

---What the caller of a diff that nobody has decided gets if this Neovim ends, or the core.
---@param diff dapeer.Diff
---@return table
function M.lost(diff)
  return result(diff, nil, 'Neovim, or the core, ended before the person decided.')
end

-- It may be decided before it was to be shown.
---@param diff dapeer.Diff
local function decided(diff)
  if diff.done then
    diff.done()
  end
end

---@param diff dapeer.Diff
local function forget(diff)
  pcall(vim.api.nvim_del_augroup_by_id, diff.group)
  if diff.wait then
    diff.wait()
  end
end

---@param diff dapeer.Diff
---@param more { outcome: string, reason?: string, by_person: boolean }
local function close(diff, more)
  forget(diff)
  if not diff.view then
    return
  end
  state.shown[diff.id] = nil
  local view = require('dapeer.diff.view')
  local ok, problem = pcall(view.close, diff.view, next_tab(diff.id))
  if not ok then
    local sentence = ('closing a diff failed: %s'):format(problem)
    require('dapeer.person.attention').say(sentence, vim.log.levels.WARN)
  end
  if next(state.shown) == nil then
    view.restore()
  end
  if diff.view.terminal and vim.bo.buftype == 'terminal' then
    vim.cmd.startinsert()
  end
  announce('DapeerDiffClosed', diff, more)
end

-- Otherwise Insert mode continues in the next window, and takes keys typed for the proposal.
local function when_closable(diff, by_person, callback)
  local attention = require('dapeer.person.attention')
  if not diff.view or not require('dapeer.diff.view').has_person(diff.view) then
    return callback()
  elseif by_person and vim.api.nvim_get_mode().mode:match('^[iR]') then
    vim.cmd.stopinsert()
  end
  if by_person and not attention.typing() then
    return callback()
  end
  -- Its own autocommands have seen what they should.
  vim.api.nvim_clear_autocmds({ group = diff.group })
  diff.wait = (by_person and attention.when_typed or attention.when_free)(callback)
end

---Decide a diff, once: its windows go, and its caller gets the answer.
---@param diff dapeer.Diff
---@param outcome 'accepted'|'rejected'
---@param more? { reason?: string, by_person?: boolean, leaving?: boolean }
function M.decide(diff, outcome, more)
  if diff.outcome then
    return
  end
  more = more or {}
  diff.outcome = outcome
  decided(diff)
  state.pending[diff.id] = nil
  local text = outcome == 'accepted' and require('dapeer.editor.bytes').bytes(diff.view.right) or nil
  local answer = result(diff, text, more.reason)
  if diff.view and vim.api.nvim_buf_is_valid(diff.view.right) then
    vim.bo[diff.view.right].modified = false
  end
  if more.leaving then
    return diff.answer(answer)
  end
  if text then
    state.accepted[key(diff)] = { caller = diff.caller, tab_name = diff.tab_name, file = diff.file }
    require('dapeer.diff.files').expect(diff.file, text)
  end
  -- Not within a command or an autocommand of the person's.
  vim.schedule(function()
    diff.answer(answer)
    when_closable(diff, more.by_person, function()
      close(diff, { outcome = outcome, reason = more.reason, by_person = more.by_person or false })
    end)
  end)
end

---What a person's gesture does to a diff.
---@param diff dapeer.Diff
---@return fun(what: 'accept'|'reject', reason?: string)
function M.by_person(diff)
  return function(what, reason)
    local outcome = what == 'accept' and 'accepted' or 'rejected'
    M.decide(diff, outcome, { by_person = true, reason = reason })
  end
end

---A diff that cannot be shown.
---@param diff dapeer.Diff
---@param problem string
function M.fail(diff, problem)
  state.pending[diff.id] = nil
  diff.outcome = 'rejected'
  decided(diff)
  forget(diff)
  diff.answer(nil, problem)
end

---@param diff dapeer.Diff
---@param sides dapeer.Sides
function M.show(diff, sides)
  if diff.outcome then
    return
  end
  local before = vim.api.nvim_get_current_win()
  local terminal = vim.api.nvim_get_mode().mode == 't'
  local busy = vim.iter(M.pending()):find(function(other)
    return other.view ~= nil and require('dapeer.diff.view').has_person(other.view)
  end)
  local view, problem = require('dapeer.diff.view').open(diff, sides, M.by_person(diff))
  if not view then
    return M.fail(diff, ('The diff cannot be shown: %s'):format(problem))
  end
  diff.view = view
  view.terminal = terminal
  state.shown[diff.id] = diff
  require('dapeer.diff.gestures').watch(diff, M.by_person(diff))
  -- Who reviews one diff comes to the next one afterwards.
  if busy then
    view.origin, view.terminal = busy.view.origin, busy.view.terminal
    vim.api.nvim_set_current_win(before)
    require('dapeer.person.attention').say('another diff is to be reviewed: ' .. diff.name)
  end
  announce('DapeerDiffOpened', diff, { tabpage = view.tab, buffer = view.right })
end

local function replace(diff)
  M.settle(diff.caller, diff.tab_name)
  for _, other in ipairs(M.pending()) do
    if other.tab_name == diff.tab_name and M.same(other.caller, diff.caller) then
      M.decide(other, 'rejected', { reason = 'Another diff with this tab name has replaced it.' })
    end
  end
end

---Whoever was about to write what was accepted has done so by now, or never will.
---@param caller table
---@param tab_name? string  nil: all of this caller
function M.settle(caller, tab_name)
  for index, accepted in pairs(state.accepted) do
    local named = accepted.tab_name == (tab_name or accepted.tab_name)
    if named and M.same(accepted.caller, caller) then
      state.accepted[index] = nil
      require('dapeer.diff.files').settle(accepted.file)
    end
  end
end

---A diff that is not shown yet.
---@param given { tab_name?: string, file: string, caller: table, answer: fun(result: any, err?: string) }
---@return dapeer.Diff
function M.new(given)
  state.last = state.last + 1
  local name = vim.fn.fnamemodify(given.file, ':.')
  ---@type dapeer.Diff
  local diff = vim.tbl_extend('force', given, {
    id = state.last,
    tab_name = given.tab_name or name,
    name = name,
    group = vim.api.nvim_create_augroup('dapeer_diff_' .. state.last, { clear = true }),
    is_new = vim.uv.fs_stat(given.file) == nil,
  })
  replace(diff)
  state.pending[diff.id] = diff
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = diff.group,
    callback = function()
      M.decide(diff, 'rejected', { reason = 'Neovim ended.', leaving = true })
    end,
  })
  return diff
end

return M
