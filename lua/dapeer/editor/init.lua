-- The person's files, as the tools see them: which buffer is meant, and which files are secret. Nothing here
-- moves a window, a cursor or a mode.
local M = {}

---A larger file is not loaded by a tool: Neovim would stand still meanwhile. Bytes.
M.LARGEST = 32 * 1024 * 1024

local URI = '^%a[%w+.-]+://'

---The absolute path of a buffer's file; '' if it has none.
---@param bufnr integer
---@return string
function M.path(bufnr)
  return vim.api.nvim_buf_get_name(bufnr)
end

---What a text calls a buffer: its path from the working directory, or its number.
---@param bufnr integer
---@return string
function M.name(bufnr)
  local path = M.path(bufnr)
  return path == '' and ('buffer %d'):format(bufnr) or vim.fn.fnamemodify(path, ':.')
end

---A path as Neovim names files: absolute, without `~` and `.`.
---@param filename string  absolute, or relative to the working directory; or a file:// URI
---@return string
function M.absolute(filename)
  if vim.startswith(filename, 'file://') then
    filename = vim.uri_to_fname(filename)
  elseif filename:match(URI) then
    return filename
  elseif not (filename .. '/'):match('^~?[/\\]') and not filename:match('^%a:[/\\]') then
    -- Also `~name`, which is a file's name as often as a person's folder.
    filename = vim.fs.joinpath(vim.fn.getcwd(), filename)
  end
  return vim.fs.normalize(filename, { expand_env = false })
end

---@param path string
---@return integer?
local function of_name(path)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if M.path(bufnr) == path then
      return bufnr
    end
  end
end

-- Load a buffer without showing it.
local function load(bufnr)
  local name = M.name(bufnr)
  local problem = require('dapeer.editor.loading').load(bufnr)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return ('Neovim cannot load %s: %s'):format(name, problem or 'it does not say why')
  end
  if vim.bo[bufnr].filetype == '' then
    -- Within another autocommand the events that detect it are not triggered.
    vim.bo[bufnr].filetype = vim.filetype.match({ buf = bufnr }) or ''
  end
end

---@return string? problem
local function unfit(path)
  local found = vim.uv.fs_stat(path)
  if not found then
    return ('There is no file %s. Give a path that is absolute or relative to %s.'):format(path, vim.fn.getcwd())
  elseif found.type ~= 'file' then
    return ('%s is a %s, not a file. Give the path of a file.'):format(path, found.type)
  elseif found.size > M.LARGEST then
    return ('%s has %d MiB, too much to load into Neovim. Read it with another tool.'):format(
      path,
      found.size / 1024 / 1024
    )
  end
end

---@param number integer
local function of_number(number)
  if number > 0 and number < 2 ^ 31 and vim.api.nvim_buf_is_valid(number) then
    return number
  end
  return nil, ('There is no buffer %s. nvim_buffers_list shows which are open.'):format(number)
end

---@param filename string
---@param create? boolean
local function of_path(filename, create)
  local path = M.absolute(filename)
  local open = of_name(path) or of_name(filename)
  if open then
    return open
  elseif require('dapeer.editor.secrets').covers(path) then
    return nil, M.refusal(path)
  end
  local problem = unfit(path)
  if path:match(URI) then
    return nil, ('%s is not open in Neovim, and tools open only files. Give a path.'):format(path)
  elseif problem and not (create and not vim.uv.fs_stat(path)) then
    return nil, problem
  end
  -- Finds a buffer that knows the file by another name, too.
  return vim.fn.bufadd(path)
end

---What is said of a file that is a secret.
---@param path string
---@return string
function M.refusal(path)
  return ('%s may hold secrets, so no tool may look into it. The person can change `secrets` in setup().'):format(
    vim.fn.fnamemodify(path, ':.')
  )
end

-- A buffer may be known long before its file is looked at: by then that may be anything.
---@param bufnr integer
---@param options { create?: boolean, load?: boolean }
---@return string? problem
---@return string? note
local function ready(bufnr, options)
  if vim.api.nvim_buf_is_loaded(bufnr) then
    return nil, require('dapeer.editor.disk').refresh(bufnr)
  end
  local path = M.path(bufnr)
  local problem = path ~= '' and unfit(path)
  if problem and not (options.create and not path:match(URI) and not vim.uv.fs_stat(path)) then
    return problem
  elseif options.load ~= false then
    problem = load(bufnr)
    if not problem then
      require('dapeer.editor.disk').loaded(bufnr)
    end
    return problem
  end
end

---The buffer that a tool's `filename` means, loaded, but not shown by this.
---@param filename? string|integer  nil or 0: where the person is; a buffer number; or a path
---@param options? { create?: boolean, load?: boolean }  create: a file that is not there yet will do; load = false: it
---stays as it is
---@return integer? bufnr
---@return string? problem  a sentence for the assistant
---@return string? note     how its file differs from what Neovim has read
function M.buffer(filename, options)
  local bufnr, problem
  local number = tonumber(filename)
  if filename == nil or filename == '' or number == 0 then
    bufnr = require('dapeer.editor.windows').current()
    problem = 'The person has no file open in a window. Give `filename`.'
  elseif number and (type(filename) == 'number' or filename:match('^%d+$')) then
    bufnr, problem = of_number(number)
  else
    bufnr, problem = of_path(filename, (options or {}).create)
  end
  if not bufnr then
    return nil, problem
  elseif require('dapeer.editor.secrets').covers(M.path(bufnr)) then
    return nil, M.refusal(M.path(bufnr))
  end
  local note
  problem, note = ready(bufnr, options or {})
  if problem then
    return nil, problem
  end
  return bufnr, nil, note
end

---The lines of a buffer; of its file when it is not loaded.
---@param bufnr integer
---@param first integer  1-based
---@param last? integer  default: first
---@return string[]
function M.lines(bufnr, first, last)
  last = last or first
  if vim.api.nvim_buf_is_loaded(bufnr) then
    return vim.api.nvim_buf_get_lines(bufnr, first - 1, last, false)
  end
  local ok, lines = pcall(vim.fn.readfile, M.path(bufnr), '', last)
  return ok and vim.list_slice(lines, first, last) or {}
end

---A line of a buffer; '' when it has no such line.
---@param bufnr integer
---@param line integer  1-based
---@return string
function M.line(bufnr, line)
  return M.lines(bufnr, line)[1] or ''
end

---The byte at which a column begins; the line's end for a column beyond it.
---@param bufnr integer
---@param line integer    1-based
---@param column integer  1-based, in characters
---@return integer        0-based, in bytes
function M.byte(bufnr, line, column)
  local text = M.line(bufnr, line)
  local byte = vim.fn.byteidxcomp(text, math.max(column - 1, 0))
  return byte < 0 and #text or byte
end

---The column of a byte.
---@param bufnr integer
---@param line integer     1-based
---@param bytecol integer  0-based
---@return integer         1-based, in characters
function M.character(bufnr, line, bytecol)
  local text = M.line(bufnr, line)
  bytecol = math.min(bytecol, #text)
  -- A byte within a character belongs to that character.
  if bytecol < #text then
    bytecol = bytecol + vim.str_utf_start(text, bytecol + 1)
  end
  return vim.fn.strchars(text:sub(1, bytecol)) + 1
end

return M
