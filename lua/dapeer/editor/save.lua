-- Writing a buffer to its file without a question that Neovim would wait for.
local M = {}

local disk = require('dapeer.editor.disk')
local editor = require('dapeer.editor')

local CHANGED = '%s has changed on the disk since Neovim read it. Ask the person which text to keep (:e! or :w!).'

---Check whether another program has changed a buffer's file.
---@param bufnr integer
---@return string?  why the buffer must not be written
function M.stale(bufnr)
  if vim.bo[bufnr].modified and disk.overtaken(bufnr) or not vim.bo[bufnr].modified and disk.reread(bufnr) then
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
    local message = tostring(failure):gsub('^.-Vim%b():', ''):gsub('^.-:(E%d+:)', '%1')
    return ('Neovim cannot write %s: %s'):format(editor.name(bufnr), message)
  elseif vim.bo[bufnr].modified then
    return ('Something in Neovim prevented the write of %s. Ask the person.'):format(editor.name(bufnr))
  end
end

return M
