-- Writing a buffer to its file without a question that Neovim would wait for.
local M = {}

local editor = require('dapeer.editor')

---Look whether a buffer's file has been changed by somebody else. Without changes in the buffer Neovim reads it anew,
---as it does when it gets the focus.
---@param bufnr integer
---@return string?  why the buffer must not be written
function M.stale(bufnr)
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
  if reason == 'conflict' or reason == 'changed' then
    return ('%s has been changed on the disk since Neovim read it. Ask the person which text is to stay (:e! or :w!).'):format(
      editor.name(bufnr)
    )
  end
end

---@param bufnr integer
---@return string?  why the buffer cannot be written
function M.save(bufnr)
  local name = editor.name(bufnr)
  if editor.path(bufnr) == '' then
    return ('%s has no file. Ask the person to name one.'):format(name)
  end
  local stale = M.stale(bufnr)
  if stale then
    return stale
  end
  local ok, problem = pcall(vim.api.nvim_buf_call, bufnr, function()
    vim.cmd('silent lockmarks write ++p')
  end)
  if not ok then
    local said = tostring(problem):gsub('^.-Vim%b():', ''):gsub('^.-:(E%d+:)', '%1')
    return ('Neovim cannot write %s: %s'):format(name, said)
  elseif vim.bo[bufnr].modified then
    return ('Something in Neovim has kept %s from being written. Ask the person.'):format(name)
  end
end

return M
