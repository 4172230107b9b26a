-- What this Neovim lacks. It runs in any Neovim, so it uses what the oldest ones have.
local M = {}

---@return string?  a sentence; nil where nothing is lacking
function M.lacking()
  if vim.fn.has('nvim-0.10') == 1 then
    return nil
  end
  local version = vim.fn.matchstr(vim.fn.execute('version'), 'NVIM v[0-9.]\\+')
  return ('dapeer needs Neovim 0.10 or newer; this is %s. Install a newer Neovim.'):format(version)
end

---Replaces the whole plugin in a Neovim that is too old: the first call of any function says so.
---@param problem string
---@return dapeer.Module
function M.stub(problem)
  local shown = false
  local function show()
    if not shown then
      shown = true
      vim.notify(problem, vim.log.levels.ERROR)
    end
  end
  return setmetatable({}, {
    __index = function()
      return show
    end,
  })
end

return M
