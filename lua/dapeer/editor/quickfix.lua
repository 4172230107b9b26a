-- The quickfix list: what is in it, and a new one.
local M = {}

local attention = require('dapeer.person.attention')
local editor = require('dapeer.editor')
local text = require('dapeer.editor.text')

local LONGEST_ITEM = 300 -- characters
local HEIGHT = 10

local TYPES = { e = 'error', w = 'warning', i = 'info', n = 'note', h = 'hint' }

-- In Vim script: a list may have a hundred thousand items, of which a few are wanted.
local function slice(number, start, count)
  local of = ("getqflist({'nr': %d, 'items': 1}).items"):format(number)
  return vim.api.nvim_eval(('%s[%d:%d]'):format(of, start, start + count - 1))
end

---@class dapeer.editor.Item
---@field index integer      0-based
---@field file string        '' for a line of output without a file
---@field line integer       0 without a place
---@field column integer
---@field type string
---@field text string
---@field current boolean

---@return dapeer.editor.Item
local function item(raw, index, current)
  local bufnr = raw.bufnr
  local path = bufnr > 0 and vim.api.nvim_buf_is_valid(bufnr) and editor.path(bufnr) or ''
  local loaded = path ~= '' and vim.api.nvim_buf_is_loaded(bufnr) and raw.vcol == 0
  return {
    index = index,
    file = path,
    line = raw.lnum,
    -- Bytes, until the line is read.
    column = loaded and raw.col > 0 and editor.character(bufnr, raw.lnum, raw.col - 1) or raw.col,
    type = TYPES[raw.type:lower()] or '',
    text = require('dapeer.editor.secrets').covers(path) and '(may hold secrets)'
      or text.short(vim.trim(raw.text), LONGEST_ITEM),
    current = index + 1 == current,
  }
end

---@param found dapeer.editor.Item
local function line_of(found)
  local place = found.file ~= '' and vim.fn.fnamemodify(found.file, ':.') or ''
  if found.line > 0 then
    place = ('%s:%d'):format(place, found.line)
    place = found.column > 0 and ('%s:%d'):format(place, found.column) or place
  end
  local mark = found.current and '→' or ' '
  local said = table.concat(
    vim.tbl_filter(function(part)
      return part ~= ''
    end, { place, found.type, found.text }),
    ': '
  )
  return ('%s %d %s'):format(mark, found.index, said)
end

---@param args { start?: integer, count?: integer }
---@return dapeer.Result
function M.list(args)
  local start, count = args.start or 0, args.count or 100
  local info = vim.fn.getqflist({ nr = 0, size = 1, title = 1, idx = 1 })
  local lists = vim.fn.getqflist({ nr = '$' }).nr
  local items = {}
  for index, raw in ipairs(start < info.size and slice(info.nr, start, count) or {}) do
    items[index] = item(raw, start + index - 1, info.idx)
  end
  local lines = { 'The quickfix list is empty.' }
  if info.size > 0 then
    lines[1] = ('%s (list %d of %d, %d items)'):format(info.title, info.nr, lists, info.size)
  end
  vim.list_extend(lines, vim.tbl_map(line_of, items))
  if start + #items < info.size then
    local note = '(%d of %d shown; start=%d gives more)'
    table.insert(lines, note:format(#items, info.size, start + #items))
  end
  return require('dapeer.results').result(table.concat(lines, '\n'), {
    title = info.title,
    list = info.nr,
    lists = lists,
    total = info.size,
    start = start,
    items = items,
  })
end

-- Vim takes a text with a zero byte for something else.
---@param given string
local function plain(given)
  return (given:gsub('%z', '^@'))
end

-- What is asked for, as setqflist() wants it. Files are named, not loaded.
local function entry(given)
  local path = given.filename and editor.absolute(given.filename)
  local line = given.line or 0
  local bufnr = path and vim.fn.bufadd(path)
  local function byte(at, column)
    return column and bufnr and editor.byte(bufnr, at, column) + 1 or 0
  end
  return {
    bufnr = bufnr,
    lnum = line,
    col = byte(line, given.column),
    end_lnum = given.end_line or 0,
    end_col = byte(given.end_line or line, given.end_column),
    text = plain(given.text or ''),
    type = (given.type or ''):sub(1, 1):upper(),
    -- Without a file an item is a line of text.
    valid = path and 1 or 0,
  }
end

-- The person stays where they are, and `:wincmd p` leads where it did.
local function show()
  local focus = attention.focus()
  local ok, problem = pcall(vim.cmd, ('silent botright copen %d'):format(HEIGHT))
  if vim.api.nvim_get_current_win() ~= focus.window then
    attention.refocus(focus)
  end
  return not ok and tostring(problem) or nil
end

---@param args { title?: string, items: table[], open?: boolean }
---@return dapeer.Result?
---@return string? problem
function M.set(args)
  local title = plain(args.title or 'From the assistant')
  -- A list of its own: `:colder` brings back the one before.
  local failed = vim.fn.setqflist({}, ' ', { title = title, items = vim.tbl_map(entry, args.items) })
  if failed ~= 0 then
    return nil, 'Neovim rejects the quickfix list: it is in use. Try again.'
  end
  local said = ('Quickfix list "%s": %d items; :colder brings back the previous one.'):format(title, #args.items)
  local shown = false
  if args.open and attention.typing() then
    said = said .. ' Not opened: the person is typing.'
  elseif args.open then
    local problem = show()
    shown = problem == nil
    said = said .. (problem and ' Not opened: ' .. problem or ' It is open.')
  end
  return require('dapeer.results').result(said, { title = title, total = #args.items, shown = shown })
end

return M
