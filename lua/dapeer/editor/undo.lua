-- The undo tree of a buffer: reading it, and going to one of its states.
local M = {}

local change = require('dapeer.editor.change')
local editor = require('dapeer.editor')
local text = require('dapeer.editor.text')

---@class dapeer.undo.State
---@field seq integer       0: the text as it was read
---@field parent? integer   the state that was changed into this one; nil: of 0
---@field time? integer     seconds since 1970
---@field saved? integer    the number of the write that saved this state
---@field current boolean

-- An entry's `alt` are the states that were made instead of it, from the same state.
local function collect(entries, parent, states)
  for _, entry in ipairs(entries) do
    table.insert(states, {
      seq = entry.seq,
      parent = parent,
      time = entry.time,
      saved = entry.save,
    })
    if entry.alt then
      collect(entry.alt, parent, states)
    end
    parent = entry.seq
  end
end

---@param tree table  of undotree()
---@return dapeer.undo.State[]  newest first, the text as it was read last
local function states_of(tree)
  local states = {}
  collect(tree.entries, 0, states)
  table.insert(states, { seq = 0 })
  table.sort(states, function(one, other)
    return one.seq > other.seq
  end)
  for _, state in ipairs(states) do
    state.current = state.seq == tree.seq_cur
  end
  return states
end

local function ago(seconds)
  for _, unit in ipairs({ { 86400, 'd' }, { 3600, 'h' }, { 60, 'min' } }) do
    if seconds >= unit[1] then
      return ('%d %s ago'):format(math.floor(seconds / unit[1]), unit[2])
    end
  end
  return ('%d s ago'):format(math.max(seconds, 0))
end

---@param state dapeer.undo.State
---@param now integer
local function line_of(state, now)
  local mark = state.current and '→' or ' '
  if state.seq == 0 then
    return mark .. ' 0 as it was read'
  end
  local facts = { os.date('%H:%M:%S', state.time), ago(now - state.time) }
  -- What differs from a plain row of changes.
  if state.parent ~= state.seq - 1 then
    table.insert(facts, ('made from %d'):format(state.parent))
  end
  if state.saved then
    table.insert(facts, ('saved (write %d)'):format(state.saved))
  end
  return ('%s %d %s'):format(mark, state.seq, table.concat(facts, ', '))
end

---@param args { filename?: string, start?: integer, count?: integer }
---@return dapeer.Result?
---@return string? problem
function M.tree(args)
  local bufnr, problem = editor.buffer(args.filename)
  if not bufnr then
    return nil, problem
  end
  local tree = vim.fn.undotree(bufnr)
  local states = states_of(tree)
  local page, note = text.page(states, { start = args.start, count = args.count or 50 })
  local modified = vim.bo[bufnr].modified
  local lines = {
    ('%s: state %d of %d%s'):format(
      editor.name(bufnr),
      tree.seq_cur,
      tree.seq_last,
      modified and ', modified, not saved' or ''
    ),
  }
  for _, state in ipairs(page) do
    table.insert(lines, line_of(state, os.time()))
  end
  table.insert(lines, note)
  return require('dapeer.results').result(table.concat(lines, '\n'), {
    file = editor.path(bufnr),
    bufnr = bufnr,
    seq_cur = tree.seq_cur,
    seq_last = tree.seq_last,
    save_cur = tree.save_cur,
    save_last = tree.save_last,
    modified = modified,
    total = #states,
    start = args.start or 0,
    states = page,
  })
end

---@class dapeer.undo.Target
---@field filename? string
---@field seq? integer
---@field earlier? string
---@field later? string

---@param target dapeer.undo.Target
---@return string? command
---@return string? problem
local function command_of(target)
  local given = vim.tbl_filter(function(name)
    return target[name] ~= nil
  end, { 'seq', 'earlier', 'later' })
  local name = given[1]
  if #given ~= 1 then
    return nil, 'Give one of `seq`, `earlier` and `later`.'
  elseif name == 'seq' then
    return ('undo %d'):format(target.seq)
  elseif not target[name]:match('^%d+[smhdf]?$') then
    return nil, ('`%s` is a number of changes, or a number with s, m, h, d or f (writes), such as 5m.'):format(name)
  end
  return name .. ' ' .. target[name]
end

-- Undoing moves the cursor of the window in which it happens: bring it back to where it was in the text.
local function keep_cursor(bufnr, action)
  local namespace = vim.api.nvim_create_namespace('dapeer_undo')
  local view = vim.fn.winsaveview()
  local mark = vim.api.nvim_buf_set_extmark(bufnr, namespace, view.lnum - 1, view.col, { strict = false })
  local ok, problem = pcall(action)
  local position = vim.api.nvim_buf_get_extmark_by_id(bufnr, namespace, mark, {})
  vim.api.nvim_buf_del_extmark(bufnr, namespace, mark)
  local line = math.min((position[1] or 0) + 1, vim.api.nvim_buf_line_count(bufnr))
  view.topline = math.max(view.topline + line - view.lnum, 1)
  view.lnum, view.col = line, position[2] or 0
  vim.fn.winrestview(view)
  return ok, problem
end

---@param problem any
local function refusal(bufnr, problem)
  local message = tostring(problem):match('E%d+:.*') or tostring(problem)
  return ('Neovim refuses that for %s: %s. nvim_undo_tree shows what there is.'):format(editor.name(bufnr), message)
end

-- In insert mode undoing would pull the text away under the person's fingers.
local function typed_into(bufnr)
  return vim.api.nvim_get_current_buf() == bufnr and vim.api.nvim_get_mode().mode:match('^[iR]') ~= nil
end

---@param target dapeer.undo.Target
---@return dapeer.Result?
---@return string? problem
function M.go(target)
  local command, problem = command_of(target)
  if not command then
    return nil, problem
  end
  local bufnr
  bufnr, problem = editor.buffer(target.filename)
  problem = problem or change.obstacle(bufnr)
  if problem then
    return nil, problem
  elseif typed_into(bufnr) then
    return nil, ('The person is typing in %s. Try again later.'):format(editor.name(bufnr))
  end
  local before = vim.fn.undotree(bufnr).seq_cur
  local old = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local ok, failure = unpack(vim.api.nvim_buf_call(bufnr, function()
    return {
      keep_cursor(bufnr, function()
        vim.cmd('silent ' .. command)
      end),
    }
  end))
  if not ok then
    return nil, refusal(bufnr, failure)
  end
  local after = vim.fn.undotree(bufnr).seq_cur
  local diff, counts = text.changes(old, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  local head = ('%s: state %d → %d; %s; go back with seq=%d.'):format(
    editor.name(bufnr),
    before,
    after,
    text.counted(counts),
    before
  )
  return require('dapeer.results').result(diff == '' and head or head .. '\n' .. diff, {
    file = editor.path(bufnr),
    bufnr = bufnr,
    seq_before = before,
    seq = after,
    added = counts.added,
    removed = counts.removed,
    modified = vim.bo[bufnr].modified,
    diff = diff,
  })
end

return M
