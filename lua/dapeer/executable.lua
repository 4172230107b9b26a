-- Which command starts the core.
local M = {}

-- lua/dapeer/executable.lua → the checkout that this file belongs to.
local function checkout()
  local file = debug.getinfo(1, 'S').source:sub(2)
  local root = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(vim.fn.fnamemodify(file, ':p'))))
  return vim.uv.fs_stat(root .. '/pyproject.toml') and root or nil
end

---The words that come before the arguments: what the options say, else an installed `dapeer`, else the
---checkout that the plugin is a part of.
---@return string[]? command
---@return string? problem  a sentence, when there is none
function M.find()
  local given = require('dapeer.config').get().bridge.command
  if given then
    return type(given) == 'string' and { vim.fs.normalize(given) } or given
  elseif vim.fn.executable('dapeer') == 1 then
    return { 'dapeer' }
  end
  local root = checkout()
  if root and vim.fn.executable(root .. '/.venv/bin/dapeer') == 1 then
    return { root .. '/.venv/bin/dapeer' }
  elseif root and vim.fn.executable('uv') == 1 then
    return { 'uv', 'run', '--quiet', '--no-dev', '--project', root, 'dapeer' }
  end
  return nil,
    'The command dapeer is not there. Install it (`uv tool install dapeer`), or name it in setup{ bridge = { command = … } }.'
end

return M
