-- What is open in Neovim, and what is in it.
local M = {}

local editor = require('dapeer.editor')
local windows = require('dapeer.editor.windows')
local text = require('dapeer.editor.text')

-- In Vim script: Lua would get a copy of all that plugins keep in buffers' variables.
local INFO = [[map(getbufinfo(), {_, b -> {'bufnr': b.bufnr, 'used': b.lastused, 'line': b.lnum}})]]

---@class dapeer.editor.Buffer
---@field bufnr integer
---@field file string       absolute; '' without one
---@field name string       as texts call it
---@field lines integer     0 while it is not loaded
---@field line integer      where the cursor is, or was
---@field filetype string
---@field modified boolean
---@field current boolean   the person works in it
---@field visible boolean   shown in the current tab page
---@field listed boolean
---@field loaded boolean
---@field secret boolean    no tool looks into it
---@field buftype string

---@return dapeer.editor.Buffer
local function described(info, current, visible)
  local bufnr = info.bufnr
  -- Of a buffer in several windows the other one's line is as good, but not for where the person is.
  local line = bufnr == current and vim.api.nvim_win_get_cursor(windows.window())[1] or info.line
  return {
    bufnr = bufnr,
    file = editor.path(bufnr),
    name = editor.name(bufnr),
    lines = vim.api.nvim_buf_line_count(bufnr),
    line = math.max(line, 1),
    filetype = vim.bo[bufnr].filetype,
    modified = vim.bo[bufnr].modified,
    current = bufnr == current,
    visible = visible[bufnr] or false,
    listed = vim.bo[bufnr].buflisted,
    loaded = vim.api.nvim_buf_is_loaded(bufnr),
    secret = require('dapeer.editor.secrets').covers(editor.path(bufnr)),
    buftype = vim.bo[bufnr].buftype,
  }
end

---@param buffer dapeer.editor.Buffer
local function line_of(buffer)
  local facts = { buffer.loaded and ('%d lines'):format(buffer.lines) or 'not loaded' }
  local function add(condition, fact)
    if condition then
      table.insert(facts, fact)
    end
  end
  add(buffer.filetype ~= '', buffer.filetype)
  add(buffer.buftype ~= '', buffer.buftype)
  add(buffer.modified, 'modified')
  add(buffer.visible, 'visible')
  add(buffer.current, ('current, line %d'):format(buffer.line))
  add(not buffer.listed, 'unlisted')
  add(buffer.secret, 'secret')
  local name = buffer.file == '' and '(no file)' or buffer.name
  local mark = buffer.current and '→' or ' '
  return ('%s %d %s: %s'):format(mark, buffer.bufnr, name, table.concat(facts, ', '))
end

---@param all boolean
local function infos(all)
  local found = vim.tbl_filter(function(info)
    return all or vim.bo[info.bufnr].buflisted
  end, vim.api.nvim_eval(INFO))
  table.sort(found, function(one, other)
    if one.used ~= other.used then
      return one.used > other.used
    end
    return one.bufnr < other.bufnr
  end)
  return found
end

---@param args { all?: boolean, start?: integer, count?: integer }
---@return dapeer.Result
function M.list(args)
  local visible = {}
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    visible[vim.api.nvim_win_get_buf(window)] = true
  end
  local found = infos(args.all or false)
  local page, note = text.page(found, args)
  local current = windows.current()
  local buffers = vim.tbl_map(function(info)
    return described(info, current, visible)
  end, page)
  local lines = vim.tbl_map(line_of, buffers)
  table.insert(lines, note or (#found == 0 and 'No buffer is open.' or nil))
  return require('dapeer.results').result(
    table.concat(lines, '\n'),
    { buffers = buffers, total = #found, start = args.start or 0 }
  )
end

---@param note? string  how the file differs
local function header(bufnr, what, note)
  local modified = vim.bo[bufnr].modified and ', modified, not saved' or ''
  return ('%s, %s%s%s'):format(editor.name(bufnr), what, modified, note and ', ' .. note or '')
end

local function facts(bufnr, more)
  return vim.tbl_extend('force', {
    file = editor.path(bufnr),
    bufnr = bufnr,
    total = vim.api.nvim_buf_line_count(bufnr),
    modified = vim.bo[bufnr].modified,
  }, more)
end

---@param bufnr integer
---@param args { line?: integer, count?: integer }
---@param note? string
---@return dapeer.Result?
---@return string? problem
local function part(bufnr, args, note)
  local first, count = args.line or 1, args.count or 200
  local total = vim.api.nvim_buf_line_count(bufnr)
  if first > total then
    return nil, ('%s has only %d lines. Give a smaller `line`.'):format(editor.name(bufnr), total)
  end
  local lines = text.bounded(editor.lines(bufnr, first, first + count - 1))
  local last = first + #lines - 1
  local parts = {
    header(bufnr, ('lines %d-%d of %d'):format(first, last, total), note),
    text.numbered(first, lines),
  }
  if last < total then
    table.insert(parts, ('(%d more lines: line=%d)'):format(total - last, last + 1))
  end
  local data = facts(bufnr, { first = first, last = last, lines = lines, disk = note })
  return require('dapeer.results').result(table.concat(parts, '\n'), data)
end

---@class dapeer.editor.Row  What a line of the screen, or several, show.
---@field line integer
---@field text string
---@field folded_to? integer  the last line of a closed fold

---What a window shows, from its first to its last line.
---@param window integer
---@return dapeer.editor.Row[]
function M.rows(window)
  local bufnr = vim.api.nvim_win_get_buf(window)
  return vim.api.nvim_win_call(window, function()
    local rows = {}
    local line, last = vim.fn.line('w0'), vim.fn.line('w$')
    while line <= last do
      local fold = vim.fn.foldclosedend(line)
      if fold > 0 then
        local shown = text.short(vim.fn.foldtextresult(line), text.WIDEST)
        table.insert(rows, { line = line, text = shown, folded_to = fold })
        line = fold
      else
        local shown = text.short(editor.line(bufnr, line), text.WIDEST)
        table.insert(rows, { line = line, text = shown })
      end
      line = line + 1
    end
    return rows
  end)
end

-- The window of a buffer that the person sees: where they are, then in this tab page, then elsewhere.
local function window_of(bufnr)
  local here = windows.window()
  if here and vim.api.nvim_win_get_buf(here) == bufnr then
    return here
  end
  local all = vim.list_extend(vim.api.nvim_tabpage_list_wins(0), vim.api.nvim_list_wins())
  return vim.iter(all):find(function(window)
    return vim.api.nvim_win_get_buf(window) == bufnr
  end)
end

---@param rows dapeer.editor.Row[]
---@param cursor integer
local function shown(rows, cursor)
  local width = #tostring(rows[#rows].folded_to or rows[#rows].line)
  return vim.tbl_map(function(row)
    local mark = cursor >= row.line and cursor <= (row.folded_to or row.line) and row.line or nil
    local folded = row.folded_to and ('  (folded to %d)'):format(row.folded_to) or ''
    return text.numbered_line(row.line, row.text .. folded, width, mark)
  end, rows)
end

---@param bufnr integer
---@param note? string
---@return dapeer.Result?
---@return string? problem
local function screen(bufnr, note)
  local window = window_of(bufnr)
  if not window then
    local name = editor.name(bufnr)
    return nil, ('%s is in no window. Leave `visible` out to read it.'):format(name)
  end
  local rows = M.rows(window)
  local cursor = vim.api.nvim_win_get_cursor(window)[1]
  local last = rows[#rows].folded_to or rows[#rows].line
  local what = ('on screen: lines %d-%d of %d'):format(rows[1].line, last, vim.api.nvim_buf_line_count(bufnr))
  local left = vim.api.nvim_win_call(window, vim.fn.winsaveview).leftcol
  local parts = { header(bufnr, what, note) }
  vim.list_extend(parts, shown(rows, cursor))
  table.insert(parts, left > 0 and ('(scrolled right by %d columns)'):format(left) or nil)
  local data = { first = rows[1].line, last = last, rows = rows, cursor_line = cursor, leftcol = left, disk = note }
  return require('dapeer.results').result(table.concat(parts, '\n'), facts(bufnr, data))
end

---@param args { filename?: string, line?: integer, count?: integer, visible?: boolean }
---@return dapeer.Result?
---@return string? problem
function M.read(args)
  local bufnr, problem, note = editor.buffer(args.filename)
  if not bufnr then
    return nil, problem
  elseif args.visible then
    return screen(bufnr, note)
  end
  return part(bufnr, args, note)
end

return M
