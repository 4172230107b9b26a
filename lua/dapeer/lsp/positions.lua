-- Places in a text: columns count characters, Neovim counts bytes, each server counts as it has agreed with
-- Neovim. Here they are translated, and what a tool's arguments mean is found.
local M = {}

local task = require('dapeer.lsp.task')

---@alias dapeer.lsp.Encoding 'utf-8'|'utf-16'|'utf-32'

---@param byte integer  the first one of a character
---@return integer bytes
---@return integer utf16
local function size(byte)
  if byte >= 0xF0 then
    return 4, 2
  end
  return byte >= 0xE0 and 3 or byte >= 0xC0 and 2 or 1, 1
end

-- Neovim's own functions for this have another signature in each version.
---@param text string
---@param encoding dapeer.lsp.Encoding
---@param reached fun(bytes: integer, units: integer): boolean
---@return integer bytes
---@return integer units
local function walk(text, encoding, reached)
  local bytes, units = 0, 0
  while bytes < #text and not reached(bytes, units) do
    local width, utf16 = size(text:byte(bytes + 1))
    bytes = math.min(bytes + width, #text)
    units = units + (encoding == 'utf-16' and utf16 or 1)
  end
  return bytes, units
end

---@param text string     a line
---@param byte integer    0-based
---@param encoding dapeer.lsp.Encoding
---@return integer        0-based, in the units of the encoding
function M.units(text, byte, encoding)
  if encoding == 'utf-8' then
    return math.min(byte, #text)
  end
  local _, units = walk(text, encoding, function(bytes)
    return bytes >= byte
  end)
  return units
end

---@param text string     a line
---@param goal integer    0-based, in the units of the encoding
---@param encoding dapeer.lsp.Encoding
---@return integer        0-based byte; the line's end for what lies beyond it
function M.byte(text, goal, encoding)
  if encoding == 'utf-8' then
    return math.min(goal, #text)
  end
  return (walk(text, encoding, function(_, units)
    return units >= goal
  end))
end

---@param text string   a line
---@param byte integer  0-based
---@return integer      1-based, in characters
function M.column(text, byte)
  return M.units(text, byte, 'utf-32') + 1
end

---A position of the protocol in a tool's result.
---@param text string  the line
---@param position lsp.Position
---@param encoding dapeer.lsp.Encoding
---@return integer line    1-based
---@return integer column  1-based, in characters
function M.from_protocol(text, position, encoding)
  if text == '' then
    return position.line + 1, position.character + 1 -- perhaps a text that cannot be read
  end
  return position.line + 1, M.column(text, M.byte(text, position.character, encoding))
end

---@class dapeer.lsp.Document
---@field bufnr integer
---@field name string        for texts
---@field opened boolean     it was loaded by this call
---@field note? string       how its file differs from what Neovim has read

---@class dapeer.lsp.Target: dapeer.lsp.Document
---@field line integer       1-based
---@field column integer     1-based
---@field byte integer       0-based
---@field text string        of the line

---Within a task: the buffer that is meant, loaded, with its file type's servers attached.
---@param filename? string
---@return dapeer.lsp.Document
function M.document(filename)
  local editor = require('dapeer.editor')
  local ticks = {} -- of the loaded ones
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    ticks[bufnr] = vim.api.nvim_buf_is_loaded(bufnr) and vim.api.nvim_buf_get_changedtick(bufnr) or nil
  end
  local bufnr, problem, note = editor.buffer(filename)
  if not bufnr then
    task.fail(problem or 'No buffer.')
  end
  local opened = not ticks[bufnr]
  local reread = not opened and ticks[bufnr] ~= vim.api.nvim_buf_get_changedtick(bufnr)
  if opened or reread then
    require('dapeer.lsp.published').brought(bufnr)
  end
  if opened then
    task.turn() -- some configurations start servers after the autocommands
  end
  return { bufnr = bufnr, name = editor.name(bufnr), opened = opened, note = note }
end

---@param text string
---@param symbol string
---@param from? integer  0-based byte
---@return integer?      0-based byte
local function find(text, symbol, from)
  local word = '%f[%w_\128-\255]' .. vim.pesc(symbol) .. '%f[^%w_\128-\255]'
  local edged = symbol:match('^[%w_\128-\255]') and symbol:match('[%w_\128-\255]$')
  local first = edged and text:find(word, (from or 0) + 1) or text:find(symbol, (from or 0) + 1, true)
  return first and first - 1
end

local NAMED = 8 -- lines

local function elsewhere(document, symbol)
  local lines = {}
  for number, text in ipairs(vim.api.nvim_buf_get_lines(document.bufnr, 0, -1, false)) do
    if find(text, symbol) then
      table.insert(lines, number)
    end
    if #lines > NAMED then
      lines[#lines] = '…'
      break
    end
  end
  if #lines == 0 then
    return 'It does not occur in that file.'
  end
  return ('It is on line %s.'):format(table.concat(lines, ', '))
end

---@param document dapeer.lsp.Document
---@param line integer
---@return string
function M.line(document, line)
  local count = vim.api.nvim_buf_line_count(document.bufnr)
  if line < 1 or line > count then
    task.fail(('There is no line %d: %s has %d lines.'):format(line, document.name, count))
  end
  return require('dapeer.editor').line(document.bufnr, line)
end

---@param document dapeer.lsp.Document
---@param symbol string
---@return integer line
local function first_line(document, symbol)
  for number, text in ipairs(vim.api.nvim_buf_get_lines(document.bufnr, 0, -1, false)) do
    if find(text, symbol) then
      return number
    end
  end
  task.fail(('`%s` does not occur in %s.'):format(symbol, document.name))
  return 0
end

local function under_cursor(document)
  local window = require('dapeer.editor.windows').window()
  if not window or vim.api.nvim_win_get_buf(window) ~= document.bufnr then
    task.fail(('Say where in %s: give `line` with `column` or `symbol`.'):format(document.name))
  end
  return unpack(vim.api.nvim_win_get_cursor(window --[[@as integer]]))
end

---@param document dapeer.lsp.Document
local function byte_of(document, text, args, line)
  local length = M.column(text, #text)
  if args.column and args.column > length then
    task.fail(
      ('Line %d of %s has %d characters, so there is no column %d.'):format(
        line,
        document.name,
        length - 1,
        args.column
      )
    )
  end
  local from = args.column and M.byte(text, args.column - 1, 'utf-32')
  if not args.symbol then
    -- A line alone means where its text begins.
    return from or #text:match('^%s*')
  end
  local byte = find(text, args.symbol, from)
  if not byte then
    task.fail(
      ('`%s` is not on line %d of %s, which is `%s`. %s'):format(
        args.symbol,
        line,
        document.name,
        require('dapeer.results.fitting').shortened(vim.trim(text), 120),
        elsewhere(document, args.symbol)
      )
    )
  end
  return byte
end

---Within a task: the place that is meant. Without a line: the symbol's first line, or the person's cursor.
---@param args { filename?: string, line?: integer, column?: integer, symbol?: string }
---@return dapeer.lsp.Target
function M.target(args)
  if args.symbol == '' then
    task.fail('`symbol` is empty. Give text from that line.')
  end
  local target = M.document(args.filename) --[[@as dapeer.lsp.Target]]
  local line, byte = args.line, nil
  if not line and args.symbol then
    line = first_line(target, args.symbol)
  elseif not line then
    line, byte = under_cursor(target)
  end
  target.text = M.line(target, line)
  target.line = line
  target.byte = byte or byte_of(target, target.text, args, line)
  target.column = M.column(target.text, target.byte)
  return target
end

---The parameters that most requests have.
---@param target dapeer.lsp.Target
---@param client vim.lsp.Client
---@return lsp.TextDocumentPositionParams
function M.params(target, client)
  return {
    textDocument = { uri = vim.uri_from_bufnr(target.bufnr) },
    position = {
      line = target.line - 1,
      character = M.units(target.text, target.byte, client.offset_encoding),
    },
  }
end

---What a text calls the place: `name` at shop.py:3:5.
---@param target dapeer.lsp.Target
---@return string
function M.place(target)
  local note = target.note and (' (%s)'):format(target.note) or ''
  return ('%s:%d:%d%s'):format(target.name, target.line, target.column, note)
end

return M
