-- A file's bytes as a buffer holds them, and back, byte for byte.
local M = {}

local BOM = '\239\187\191'

---@class dapeer.Text
---@field lines string[]            empty for an empty file
---@field format 'unix'|'dos'       dos: every line ends with CRLF
---@field eol boolean               the last line has an end
---@field bom boolean

-- With mixed ends the carriage returns stay in the lines, where the person sees them.
local function all_crlf(lines, ended)
  for index = 1, ended do
    if lines[index]:sub(-1) ~= '\r' then
      return false
    end
  end
  return ended > 0
end

---@param bytes string
---@return dapeer.Text
function M.parse(bytes)
  local bom = vim.startswith(bytes, BOM)
  local lines = vim.split(bom and bytes:sub(#BOM + 1) or bytes, '\n', { plain = true })
  local eol = lines[#lines] == ''
  if eol then
    lines[#lines] = nil
  end
  local ended = eol and #lines or #lines - 1
  local format = 'unix'
  if all_crlf(lines, ended) then
    format = 'dos'
    for index = 1, ended do
      lines[index] = lines[index]:sub(1, -2)
    end
  end
  return { lines = lines, format = format, eol = eol, bom = bom }
end

---Fill a new buffer; there is nothing to undo in it then.
---@param buffer integer
---@param text dapeer.Text
function M.fill(buffer, text)
  local levels = vim.bo[buffer].undolevels
  vim.bo[buffer].undolevels = -1
  if #text.lines > 0 then
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, text.lines)
  end
  vim.bo[buffer].undolevels = levels
  vim.bo[buffer].fileformat = text.format
  vim.bo[buffer].endofline = text.eol
  vim.bo[buffer].bomb = text.bom
end

-- Only here Neovim distinguishes a buffer without a line from one with an empty line.
local function without_lines(buffer)
  return vim.api.nvim_buf_line_count(buffer) == 1
    and vim.api.nvim_buf_call(buffer, function()
      return vim.fn.wordcount().bytes == 0
    end)
end

---What a buffer would be in a file, as it is; in UTF-8 whatever its 'fileencoding'.
---@param buffer integer
---@return string bytes
function M.bytes(buffer)
  local options = vim.bo[buffer]
  local bom = options.bomb and BOM or ''
  if without_lines(buffer) then
    return bom
  end
  local ends = ({ dos = '\r\n', mac = '\r' })[options.fileformat] or '\n'
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  return bom .. table.concat(lines, ends) .. (options.endofline and ends or '')
end

---What a diff does not show: how the lines end, and whether there is a byte order mark.
---@param old dapeer.Text
---@param new dapeer.Text
---@return string[]  a few words each
function M.unseen(old, new)
  local changes = {}
  if #old.lines == 0 or #new.lines == 0 then
    return changes
  end
  local function note(condition, words)
    if condition then
      table.insert(changes, words)
    end
  end
  note(old.format == 'dos' and new.format == 'unix', 'CRLF → LF')
  note(old.format == 'unix' and new.format == 'dos', 'LF → CRLF')
  note(old.eol and not new.eol, 'no newline at the end')
  note(new.eol and not old.eol, 'newline at the end added')
  note(old.bom and not new.bom, 'BOM removed')
  note(new.bom and not old.bom, 'BOM added')
  return changes
end

return M
