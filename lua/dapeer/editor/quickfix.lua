-- The quickfix list and the location lists: what is in them, and a new quickfix list.
local M = {}

local attention = require('dapeer.person.attention')
local editor = require('dapeer.editor')
local text = require('dapeer.editor.text')

local LONGEST_ITEM = 300 -- characters
local HEIGHT = 10

local TYPES = { e = 'error', w = 'warning', i = 'info', n = 'note', h = 'hint' }

---@class dapeer.editor.Source  The quickfix list, or the location list of a window.
---@field name string
---@field window? integer  nil: the quickfix list

---@param source dapeer.editor.Source
---@param what table
local function ask(source, what)
  return source.window and vim.fn.getloclist(source.window, what) or vim.fn.getqflist(what)
end

-- In Vim script: a list may have a hundred thousand items, of which a few are wanted.
---@param source dapeer.editor.Source
local function slice(source, number, start, count)
  local of = source.window and ('getloclist(%d, '):format(source.window) or 'getqflist('
  of = ("%s{'nr': %d, 'items': 1}).items"):format(of, number)
  return vim.api.nvim_eval(('%s[%d:%d]'):format(of, start, start + count - 1))
end

---@param window integer
---@return dapeer.editor.Source
local function location(window)
  local name = editor.name(vim.api.nvim_win_get_buf(window))
  return { name = ('location list of the window of %s'):format(name), window = window }
end

-- The windows that have a location list, without those that show one.
---@return integer[]
local function with_locations()
  return vim.tbl_filter(function(window)
    return vim.fn.getloclist(window, { size = 1 }).size > 0 and vim.fn.getwininfo(window)[1].quickfix == 0
  end, vim.api.nvim_list_wins())
end

-- The window whose location list is meant: one with a list before one without.
---@param filename? string
---@return integer?
---@return string? problem
local function window_of(filename)
  if filename == nil then
    local here = vim.api.nvim_get_current_win()
    -- A window that shows a location list has that list.
    local window = vim.fn.getwininfo(here)[1].loclist == 1 and here or require('dapeer.editor.windows').window()
    return window, 'The person has no file open in a window. Give `filename`.'
  end
  local bufnr, problem = editor.buffer(filename, { load = false })
  if not bufnr then
    return nil, problem
  end
  local found = vim.fn.win_findbuf(bufnr)
  for _, window in ipairs(with_locations()) do
    if vim.tbl_contains(found, window) then
      return window
    end
  end
  return found[1], ('No window shows %s, and location lists are those of windows.'):format(editor.name(bufnr))
end

---@param source dapeer.editor.Source
local function emptiness(source)
  local sentence = ('The %s is empty.'):format(source.name)
  local others = source.window and with_locations() or {}
  if #others == 0 then
    return sentence
  end
  local names = vim.tbl_map(function(window)
    return editor.name(vim.api.nvim_win_get_buf(window))
  end, others)
  return ('%s Windows with one show: %s.'):format(sentence, table.concat(names, ', '))
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
  local details = table.concat(
    vim.tbl_filter(function(part)
      return part ~= ''
    end, { place, found.type, found.text }),
    ': '
  )
  return ('%s %d %s'):format(mark, found.index, details)
end

---@param source dapeer.editor.Source
---@param args { start?: integer, count?: integer }
---@return dapeer.Result
local function listed(source, args)
  local start, count = args.start or 0, args.count or 100
  local info = ask(source, { nr = 0, size = 1, title = 1, idx = 1 })
  local lists = ask(source, { nr = '$' }).nr
  local items = {}
  for index, raw in ipairs(start < info.size and slice(source, info.nr, start, count) or {}) do
    items[index] = item(raw, start + index - 1, info.idx)
  end
  local lines = { info.size == 0 and emptiness(source) or nil }
  if info.size > 0 then
    local of = source.window and source.name .. ': ' or ''
    lines[1] = ('%s%s (list %d of %d, %d items)'):format(of, info.title, info.nr, lists, info.size)
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

---@param args { location?: boolean, filename?: string, start?: integer, count?: integer }
---@return dapeer.Result?
---@return string? problem
function M.list(args)
  if not args.location and args.filename == nil then
    return listed({ name = 'quickfix list' }, args)
  end
  local window, problem = window_of(args.filename)
  if not window then
    return nil, problem
  end
  return listed(location(window), args)
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
  local sentence = ('Quickfix list "%s": %d items; :colder brings back the previous one.'):format(title, #args.items)
  local shown = false
  if args.open and attention.busy() then
    sentence = sentence .. ' Not opened: the person is typing.'
  elseif args.open then
    local problem = show()
    shown = problem == nil
    sentence = sentence .. (problem and ' Not opened: ' .. problem or ' It is open.')
  end
  return require('dapeer.results').result(sentence, { title = title, total = #args.items, shown = shown })
end

return M
