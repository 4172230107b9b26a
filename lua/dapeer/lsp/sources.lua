-- The text of files that servers name: from the buffer, unsaved changes included, else from the disk.
local M = {}

---Larger files are not read for a line of theirs. Bytes.
local LARGEST = 4 * 1024 * 1024

---@class dapeer.lsp.Sources
---@field private _buffers? table<string, integer>
---@field private _files table<string, string[]>
---@field private _shown table<string, boolean>
local Sources = {}
Sources.__index = Sources

---What is read once is kept, for one call of a tool.
---@return dapeer.lsp.Sources
function M.new()
  return setmetatable({ _files = {}, _shown = {} }, Sources)
end

---The loaded buffer of a file.
---@param path string
---@return integer?
function Sources:buffer(path)
  if not self._buffers then
    self._buffers = {}
    for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_is_loaded(bufnr) then
        self._buffers[vim.api.nvim_buf_get_name(bufnr)] = bufnr
      end
    end
  end
  return self._buffers[path]
end

local function read(path)
  local found = vim.uv.fs_stat(path)
  local file = found and found.type == 'file' and found.size <= LARGEST and io.open(path, 'rb')
  if not file then
    return {}
  end
  local text = file:read('*a') or ''
  file:close()
  return vim.split(text:gsub('\r\n', '\n'), '\n', { plain = true })
end

---A line of a file; '' for one that cannot be read, or must not.
---@param path string
---@param line integer  1-based
---@return string
function Sources:line(path, line)
  local bufnr = self:buffer(path)
  if bufnr then
    return vim.api.nvim_buf_get_lines(bufnr, line - 1, line, false)[1] or ''
  end
  self._files[path] = self._files[path] or read(path)
  return self._files[path][line] or ''
end

---A file as it is on disk.
---@param path string
---@return dapeer.lsp.Text
function Sources.text(path)
  local lines = vim.list_slice(read(path))
  local eol = #lines ~= 1 and lines[#lines] == ''
  if eol then
    table.remove(lines)
  end
  return { lines = #lines > 0 and lines or { '' }, eol = eol or #lines == 0 }
end

---Whether the text of a file may be shown.
---@param path string
---@return boolean
function Sources:shown(path)
  if self._shown[path] == nil then
    self._shown[path] = not require('dapeer.editor.secrets').covers(path)
  end
  return self._shown[path]
end

return M
