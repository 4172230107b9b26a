-- What the person has selected, without ending their selection.
local M = {}

local MOST = 64 * 1024 -- bytes of selected text in a result

---@class dapeer.Selection
---@field text? string
---@field first { [1]: integer, [2]: integer }   line and byte, 1-based
---@field last { [1]: integer, [2]: integer }    the byte after the last character
---@field now boolean                            visual mode is on

-- The byte after the character at a byte; both 1-based.
local function after(line, byte)
  if byte > #line then
    return #line + 1
  end
  return byte + vim.str_utf_end(line, byte) + 1
end

---@param bufnr integer
---@param region dapeer.editor.Region
---@return dapeer.Selection
local function of(bufnr, region)
  local from, to = region.first, region.last
  local line = require('dapeer.editor').line(bufnr, to[2])
  local linewise = region.kind == 'V'
  return {
    first = { from[2], linewise and 1 or from[3] },
    last = { to[2], linewise and #line + 1 or after(line, to[3]) },
    now = region.active,
  }
end

-- A position of LSP.
local function position(bufnr, place)
  local line = vim.api.nvim_buf_get_lines(bufnr, place[1] - 1, place[1], false)[1] or ''
  return { line = place[1] - 1, character = vim.fn.strutf16len(line:sub(1, place[2] - 1)) }
end

local function cursor(bufnr)
  local window = require('dapeer.editor.windows').window()
  if not window or vim.api.nvim_win_get_buf(window) ~= bufnr then
    window = vim.fn.win_findbuf(bufnr)[1]
  end
  local place = window and vim.api.nvim_win_get_cursor(window) or { 1, 0 }
  return { place[1], place[2] + 1 }
end

---The selection of a buffer as IDEs give it; without one, the cursor.
---@param bufnr integer
---@return table range        { start, end, isEmpty }, 0-based
---@return dapeer.Selection?  without its text
---@return dapeer.editor.Region?
function M.range(bufnr)
  local region = require('dapeer.editor.cursor').region(bufnr)
  local selection = region and of(bufnr, region)
  local first = selection and selection.first or cursor(bufnr)
  local last = selection and selection.last or first
  return {
    start = position(bufnr, first),
    ['end'] = position(bufnr, last),
    isEmpty = selection == nil,
  },
    selection,
    region
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
  local cut = require('dapeer.results.fitting').head(text, MOST)
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
  local range, selection, region = M.range(bufnr)
  if selection and region then
    local lines = require('dapeer.editor.cursor').selected_lines(bufnr, region)
    selection.text = bounded(table.concat(lines, '\n'))
  end
  local path = editor.path(bufnr)
  cb(require('dapeer.results').result(described(bufnr, range, selection), {
    success = true,
    text = selection and selection.text or '',
    filePath = path,
    fileUrl = vim.uri_from_bufnr(bufnr),
    selection = range,
    active = selection ~= nil and selection.now,
  }))
end

return M
