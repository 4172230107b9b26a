-- The person's open files: which are changed, writing them, and what is selected.
local M = {}

local NOT_OPEN = 'Neovim has no such file open: %s.'

-- An open buffer only: asking about a file does not open it.
---@param filename? string
---@return integer? bufnr
---@return string? path      what was asked for, when it is not open
---@return string? problem
local function find(filename)
  local editor = require('dapeer.editor')
  local number = filename and filename:match('^%d+$') and tonumber(filename)
  if filename == nil or filename == '' or number then
    local bufnr, problem = editor.buffer(filename)
    return bufnr, nil, problem
  end
  local path = editor.absolute(filename)
  if editor.secret(path) then
    return nil, nil, editor.refusal(path)
  end
  return require('dapeer.diff.files').buffers(path)[1], path
end

local function closed(path)
  local sentence = NOT_OPEN:format(path)
  return require('dapeer.mcp').result(sentence, { success = false, filePath = path, message = sentence })
end

---@param cb fun(result: any, err?: string)
---@param filename? string
function M.check_dirty(cb, filename)
  local bufnr, path, problem = find(filename)
  if problem then
    return cb(nil, problem)
  elseif not bufnr then
    return cb(closed(path))
  end
  local editor = require('dapeer.editor')
  local dirty = vim.bo[bufnr].modified
  local words = dirty and 'has unsaved changes' or 'has no unsaved changes'
  cb(require('dapeer.mcp').result(('%s %s.'):format(editor.name(bufnr), words), {
    success = true,
    filePath = editor.path(bufnr),
    isDirty = dirty,
    isUntitled = editor.path(bufnr) == '',
  }))
end

-- What a buffer held when its file was read or written last, by the undo history of a copy. A history that
-- is cut off leads to another text: then saving is refused, which is the safe mistake.
---@param bufnr integer
---@return string[]
local function saved_lines(bufnr)
  local file = vim.fn.tempname()
  local copy = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(copy, 0, -1, false, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  pcall(vim.api.nvim_buf_call, bufnr, function()
    vim.cmd('silent wundo! ' .. file)
  end)
  pcall(vim.api.nvim_buf_call, copy, function()
    vim.cmd('silent rundo ' .. file)
    vim.cmd('silent earlier 1f')
  end)
  vim.uv.fs_unlink(file)
  local lines = vim.api.nvim_buf_get_lines(copy, 0, -1, false)
  vim.api.nvim_buf_delete(copy, { force = true })
  return lines
end

-- Ends of lines are not compared: they are options of a buffer, not text.
local function same_text(lines, bytes, encoding)
  if encoding ~= '' and encoding ~= 'utf-8' then
    bytes = vim.iconv(bytes, encoding, 'utf-8') or bytes
  end
  local text = require('dapeer.diff.text').parse(bytes)
  local function plain(all)
    return (table.concat(all, '\n'):gsub('\r', ''))
  end
  return plain(text.lines) == plain(lines)
end

-- Neovim asks before it writes over a change of somebody else's. Nobody is asked here: it is refused.
---@param bufnr integer
---@param bytes string?   what is on the disk now
---@return string? problem
local function refusal(bufnr, bytes)
  local name = require('dapeer.editor').name(bufnr)
  if vim.bo[bufnr].readonly then
    return ('%s is read-only in Neovim, so it is not saved. Ask the person.'):format(name)
  elseif bytes and not same_text(saved_lines(bufnr), bytes, vim.bo[bufnr].fileencoding) then
    local sentence = '%s has changed on the disk since Neovim read it, so it is not saved. '
      .. 'Ask the person: `:w!` writes over it, `:e!` reads it again.'
    return sentence:format(name)
  end
end

---@param bufnr integer
---@return string? problem
local function write(bufnr)
  local name = require('dapeer.editor').name(bufnr)
  local ok, failure = pcall(vim.api.nvim_buf_call, bufnr, function()
    -- `!`: what Neovim would ask about has been looked at.
    vim.cmd('silent write!')
  end)
  if not ok then
    return ('%s is not saved: %s'):format(name, failure)
  elseif vim.bo[bufnr].modified then
    return ('%s is not saved: something in Neovim has kept it from being written.'):format(name)
  end
end

local function saved(bufnr, words)
  local editor = require('dapeer.editor')
  local sentence = ('%s %s.'):format(editor.name(bufnr), words)
  return require('dapeer.mcp').result(sentence, {
    success = true,
    filePath = editor.path(bufnr),
    saved = true,
    message = sentence,
  })
end

---@param cb fun(result: any, err?: string)
---@param filename? string
function M.save(cb, filename)
  local bufnr, path, problem = find(filename)
  if problem then
    return cb(nil, problem)
  elseif not bufnr then
    return cb(closed(path))
  end
  path = require('dapeer.editor').path(bufnr)
  if path == '' or vim.bo[bufnr].buftype ~= '' then
    return cb(nil, ('%s is not a file, so it cannot be saved.'):format(require('dapeer.editor').name(bufnr)))
  elseif not vim.bo[bufnr].modified then
    return cb(saved(bufnr, 'has nothing to save'))
  end
  local most = require('dapeer.editor').LARGEST
  require('dapeer.diff.files').read(path, most, function(bytes, unreadable)
    if unreadable or not vim.api.nvim_buf_is_loaded(bufnr) then
      return cb(nil, ('%s is not saved: %s'):format(path, unreadable or 'it has been closed'))
    end
    local why = refusal(bufnr, bytes) or write(bufnr)
    if why then
      return cb(nil, why)
    end
    cb(saved(bufnr, 'is saved'))
  end)
end

return M
