-- The person's windows, as the tools see them: where the person works. Nothing here moves a window, a cursor or a mode.
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
    return filetype:match(pattern)
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

return M
