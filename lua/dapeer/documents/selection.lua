-- What the person has selected, without ending their selection.
local M = {}

local MOST = 64 * 1024 -- bytes of selected text in a result
local LINEWISE = 2147483647 -- column of the mark '> then

---@class dapeer.Selection
---@field text string
---@field first { [1]: integer, [2]: integer }   line and byte, 1-based
---@field last { [1]: integer, [2]: integer }    the byte after the last character
---@field now boolean                            visual mode is on

local function visual()
  return vim.api.nvim_get_mode().mode:match('^[vV\22sS\19]')
end

-- Two positions as getpos() gives them, and the kind of the region between them.
local function region(bufnr)
  local here = bufnr == vim.api.nvim_get_current_buf()
  local mode = here and visual()
  if mode then
    local kind = ({ s = 'v', S = 'V', ['\19'] = '\22' })[mode] or mode
    return vim.fn.getpos('v'), vim.fn.getpos('.'), kind, true
  end
  local from, to = vim.api.nvim_buf_get_mark(bufnr, '<'), vim.api.nvim_buf_get_mark(bufnr, '>')
  local last = vim.api.nvim_buf_line_count(bufnr)
  if from[1] == 0 or to[1] == 0 or from[1] > last or to[1] > last then
    return nil
  end
  local kind = to[2] >= LINEWISE and 'V' or here and vim.fn.visualmode() or 'v'
  local function position(mark)
    return { bufnr, mark[1], mark[2] >= LINEWISE and 1 or mark[2] + 1, 0 }
  end
  return position(from), position(to), kind ~= '' and kind or 'v', false
end

-- The byte after the character at a byte; both 1-based.
local function after(line, byte)
  if byte > #line then
    return #line + 1
  end
  return byte + vim.str_utf_end(line, byte) + 1
end

---@param bufnr integer
---@return dapeer.Selection?  nil: nothing was ever selected
local function of(bufnr)
  local from, to, kind, now = region(bufnr)
  if not from then
    return nil
  end
  local text = table.concat(vim.fn.getregion(from, to, { type = kind }), '\n')
  if from[2] > to[2] or (from[2] == to[2] and from[3] > to[3]) then
    from, to = to, from
  end
  local line = vim.api.nvim_buf_get_lines(bufnr, to[2] - 1, to[2], false)[1] or ''
  local linewise = kind == 'V'
  return {
    text = text,
    first = { from[2], linewise and 1 or from[3] },
    last = { to[2], linewise and #line + 1 or after(line, to[3]) },
    now = now,
  }
end

-- A position of LSP.
local function position(bufnr, place)
  local line = vim.api.nvim_buf_get_lines(bufnr, place[1] - 1, place[1], false)[1] or ''
  return { line = place[1] - 1, character = vim.fn.strutf16len(line:sub(1, place[2] - 1)) }
end

local function cursor(bufnr)
  local window = require('dapeer.editor').window()
  if not window or vim.api.nvim_win_get_buf(window) ~= bufnr then
    window = vim.fn.win_findbuf(bufnr)[1]
  end
  local place = window and vim.api.nvim_win_get_cursor(window) or { 1, 0 }
  return { place[1], place[2] + 1 }
end

---The selection of a buffer as IDEs give it; without one, the cursor.
---@param bufnr integer
---@return table range        { start, end, isEmpty }, 0-based
---@return dapeer.Selection?
function M.range(bufnr)
  local selection = of(bufnr)
  local first = selection and selection.first or cursor(bufnr)
  local last = selection and selection.last or first
  return {
    start = position(bufnr, first),
    ['end'] = position(bufnr, last),
    isEmpty = selection == nil,
  }, selection
end

local function described(bufnr, range, selection)
  local name = require('dapeer.editor').name(bufnr)
  local first, last = range.start.line + 1, range['end'].line + 1
  local lines = first == last and tostring(first) or ('%d-%d'):format(first, last)
  if not selection then
    return ('Nothing is selected in %s; the cursor is in line %s.'):format(name, lines)
  end
  local when = selection.now and 'selected now' or 'selected last'
  return ('%s:%s, %s:\n%s'):format(name, lines, when, selection.text)
end

local function bounded(text)
  if #text <= MOST then
    return text
  end
  local cut = text:sub(1, MOST + vim.str_utf_start(text, MOST + 1))
  return cut .. ('\n… (%d more bytes; read the lines with nvim_buffer_read)'):format(#text - #cut)
end

---@param cb fun(result: any, err?: string)
---@param filename? string
function M.get(cb, filename)
  local editor = require('dapeer.editor')
  local bufnr, problem = editor.buffer(filename)
  if not bufnr then
    return cb(nil, problem)
  end
  local range, selection = M.range(bufnr)
  if selection then
    selection.text = bounded(selection.text)
  end
  local path = editor.path(bufnr)
  cb(require('dapeer.mcp').result(described(bufnr, range, selection), {
    success = true,
    text = selection and selection.text or '',
    filePath = path,
    fileUrl = vim.uri_from_bufnr(bufnr),
    selection = range,
    active = selection ~= nil and selection.now,
  }))
end

return M
