--- Lines of a buffer with unsaved changes beside those of its file, which programs load and cores count.
local M = {}

---@alias dapeer.editor.Hunks table<integer, integer>[]  what differs: first line and count on the disk, and in the buffer

---How a buffer differs from its file; nil: not at all, or it is too large to compare.
---@param bufnr integer
---@return dapeer.editor.Hunks?
function M.changed(bufnr)
  local disk = require('dapeer.editor.disk')
  if not vim.api.nvim_buf_is_loaded(bufnr) or not vim.bo[bufnr].modified or disk.size(bufnr) > disk.LARGE then
    return nil
  end
  local ok, saved = pcall(vim.fn.readfile, vim.api.nvim_buf_get_name(bufnr))
  if not ok then
    return nil
  end
  if vim.bo[bufnr].fileformat == 'dos' then
    saved = vim.tbl_map(function(line)
      return (line:gsub('\r$', ''))
    end, saved)
  end
  return require('dapeer.editor.text').hunks(saved, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
end

---@param hunks dapeer.editor.Hunks?
---@param line integer
---@param from 1|3  where in a hunk the side of `line` stands
---@param to 1|3
---@return integer?
local function translated(hunks, line, from, to)
  local shift = 0
  for _, hunk in ipairs(hunks or {}) do
    local first, count, other, others = hunk[from], hunk[from + 1], hunk[to], hunk[to + 1]
    -- Without a line of its own it names the one before.
    local start = count == 0 and first + 1 or first
    if line < start then
      break
    elseif line < start + count then
      return others > 0 and other + math.min(line - start, others - 1) or nil
    end
    shift = shift + others - count
  end
  return line + shift
end

---@param hunks dapeer.editor.Hunks?
---@param line integer  of the buffer
---@return integer?     of the file; nil: it is not there yet
function M.on_disk(hunks, line)
  return translated(hunks, line, 3, 1)
end

---@param hunks dapeer.editor.Hunks?
---@param line integer  of the file
---@return integer?     of the buffer; nil: it is not there any more
function M.in_buffer(hunks, line)
  return translated(hunks, line, 1, 3)
end

return M
