-- The person's windows: where the person works, as the tools see it, and how one is closed.
local M = {}

local VISITED = 'dapeer_visited' -- a window's variable: when the person was there

-- File types of what stands beside a person's text. Patterns of Lua, from the first letter on.
local BESIDE = {
  '^opencode', -- the assistants' chats
  '^codecompanion',
  '^claudecode',
  '^claude%-code',
  '^[Aa]vante',
  '^copilot%-chat',
  '^copilot%-panel',
  '^mcphub',
  '^sidekick',
  '^gp%.?chat',
  '^aider',
  '^dapui_', -- nvim-dap and its interfaces
  '^dap%-repl',
  '^dap%-float',
  '^dap%-view',
  '^NvimTree', -- trees and lists
  '^neo%-tree',
  '^oil$',
  '^netrw',
  '^minifiles',
  '^fern$',
  '^aerial$',
  '^Outline',
  '^undotree$',
  '^qf$',
  '^help$',
  '^man$',
  '^TelescopePrompt',
  '^snacks_',
}

---Whether a buffer holds a text of the person's: no chat, list, tree, terminal or help.
---@param bufnr integer
---@return boolean
function M.real(bufnr)
  if not vim.api.nvim_buf_is_valid(bufnr) or vim.b[bufnr].dapeer_diff ~= nil then
    return false
  end
  local kind = vim.bo[bufnr].buftype
  if kind ~= '' and kind ~= 'acwrite' then
    return false
  end
  local filetype = vim.bo[bufnr].filetype
  return not vim.iter(BESIDE):any(function(pattern)
    return filetype:match(pattern) ~= nil
  end)
end

---Whether a window is one in which the person edits.
---@param window integer
---@return boolean
function M.editing(window)
  return vim.api.nvim_win_is_valid(window)
    and vim.api.nvim_win_get_config(window).relative == ''
    and not vim.wo[window].previewwindow
    and M.real(vim.api.nvim_win_get_buf(window))
end

-- A text in a buffer of these kinds is a person's, and Neovim asks before it is lost.
local UNSAVED = { [''] = true, acwrite = true }

---Whether a window can show another buffer so that nothing happens to the one that it shows: Neovim neither asks about,
---writes, unloads nor wipes a text, nor raises an error.
---@param window integer
---@return boolean
function M.replaceable(window)
  local bufnr = vim.api.nvim_win_get_buf(window)
  if vim.fn.exists('+winfixbuf') == 1 and vim.wo[window].winfixbuf then
    return false
  elseif #vim.fn.win_findbuf(bufnr) > 1 then
    return true -- it stays in the other window
  end
  local hiding = vim.bo[bufnr].bufhidden
  if hiding ~= '' then
    return hiding == 'hide'
  end
  return vim.o.hidden or not (vim.bo[bufnr].modified and UNSAVED[vim.bo[bufnr].buftype])
end

---Note from now on where the person works; may be called again.
function M.watch()
  vim.api.nvim_create_autocmd({ 'WinEnter', 'BufEnter' }, {
    group = vim.api.nvim_create_augroup('dapeer_editor', { clear = true }),
    desc = 'dapeer: the window in which the person works',
    callback = function()
      -- Looked at only when it is asked for: a chat often gets its file type after its window.
      vim.w[VISITED] = vim.uv.hrtime()
    end,
  })
end

---The window in which the person edits, or did last.
---@return integer?
function M.window()
  local here = vim.api.nvim_get_current_win()
  if M.editing(here) then
    return here
  end
  local found, newest = nil, -1
  -- Those of the current tab page first: for windows that the person has not been in.
  local windows = vim.api.nvim_tabpage_list_wins(0)
  for _, window in ipairs(vim.list_extend(windows, vim.api.nvim_list_wins())) do
    local visited = vim.w[window][VISITED] or 0
    if visited > newest and M.editing(window) then
      found, newest = window, visited
    end
  end
  return found
end

---The buffer that the person edits, or did last.
---@return integer?
function M.current()
  local window = M.window()
  return window and vim.api.nvim_win_get_buf(window)
end

---@param window integer
---@return boolean
local function is_elsewhere(window)
  return vim.api.nvim_win_get_tabpage(window) ~= vim.api.nvim_get_current_tabpage()
end

-- Up to version 0.11 Neovim crashes where the last window of another tab page is closed while a floating window is
-- there. The tab page goes with that window, and what floats in it.
---@param window integer
local function close_what_floats_beside(window)
  local tab, floating = vim.api.nvim_win_get_tabpage(window), {}
  for _, other in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
    if vim.api.nvim_win_get_config(other).relative ~= '' then
      floating[#floating + 1] = other
    elseif other ~= window then
      return
    end
  end
  for _, other in ipairs(floating) do
    pcall(vim.api.nvim_win_close, other, true)
  end
end

---Close a window, in whichever tab page it is. A person's autocommand may prevent it.
---@param window integer
function M.close(window)
  if is_elsewhere(window) then
    close_what_floats_beside(window)
  end
  pcall(vim.api.nvim_win_close, window, true)
end

---Delete a buffer, and close its windows. A person's autocommand may prevent it.
---@param buffer integer
function M.delete(buffer)
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    if is_elsewhere(window) then
      M.close(window)
    end
  end
  pcall(vim.api.nvim_buf_delete, buffer, { force = true })
end

return M
