-- Writing a buffer to its file without a question that Neovim would wait for.
local M = {}

local editor = require('dapeer.editor')

local CHANGED = '%s has changed on the disk since Neovim read it. Ask the person which text is to stay (:e! or :w!).'

-- Without changes in the buffer Neovim reads the file anew, as it does when it gets the focus.
---@param bufnr integer
---@return boolean  whether somebody else's change stands against it
local function reread(bufnr)
  local reason
  -- With it Neovim tells us, and asks the person nothing.
  local watcher = vim.api.nvim_create_autocmd('FileChangedShell', {
    buffer = bufnr,
    callback = function()
      reason = vim.v.fcs_reason
      vim.v.fcs_choice = ''
    end,
  })
  pcall(vim.cmd, 'silent checktime ' .. bufnr)
  pcall(vim.api.nvim_del_autocmd, watcher)
  return reason == 'conflict' or reason == 'changed'
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

-- Neovim forgets a change on the disk that the person has been told of, and then asks when it writes. The
-- text itself does not forget.
---@param bufnr integer
---@return boolean
local function overtaken(bufnr)
  local file = io.open(editor.path(bufnr), 'rb')
  if not file then
    return false
  end
  local bytes = file:read('*a')
  file:close()
  return bytes ~= nil and not same_text(saved_lines(bufnr), bytes, vim.bo[bufnr].fileencoding)
end

---Look whether a buffer's file has been changed by somebody else.
---@param bufnr integer
---@return string?  why the buffer must not be written
function M.stale(bufnr)
  if vim.bo[bufnr].modified and overtaken(bufnr) or not vim.bo[bufnr].modified and reread(bufnr) then
    return CHANGED:format(editor.name(bufnr))
  end
end

---@param bufnr integer
---@return string?  why the buffer cannot be written
local function obstacle(bufnr)
  if editor.path(bufnr) == '' or vim.bo[bufnr].buftype ~= '' then
    return ('%s has no file. Ask the person to name one.'):format(editor.name(bufnr))
  elseif vim.bo[bufnr].readonly then
    return ('%s is read-only in Neovim. Ask the person.'):format(editor.name(bufnr))
  end
  return M.stale(bufnr)
end

---@param bufnr integer
---@return string?  why the buffer is not written
function M.save(bufnr)
  local problem = obstacle(bufnr)
  if problem then
    return problem
  end
  local ok, failure = pcall(vim.api.nvim_buf_call, bufnr, function()
    -- `!`: what Neovim would ask about has been looked at.
    vim.cmd('silent lockmarks keepalt write! ++p')
  end)
  if not ok then
    local said = tostring(failure):gsub('^.-Vim%b():', ''):gsub('^.-:(E%d+:)', '%1')
    return ('Neovim cannot write %s: %s'):format(editor.name(bufnr), said)
  elseif vim.bo[bufnr].modified then
    return ('Something in Neovim has kept %s from being written. Ask the person.'):format(
      editor.name(bufnr)
    )
  end
end

return M
