-- Which command starts the core.
local M = {}

-- lua/dapeer/core/executable.lua → the checkout that this file belongs to.
local function checkout()
  local file = debug.getinfo(1, 'S').source:sub(2)
  local root = vim.fn.fnamemodify(file, ':p:h:h:h:h')
  return vim.uv.fs_stat(root .. '/pyproject.toml') and root or nil
end

---What to do where there is no core.
---@param root string?  the checkout that the plugin is a part of
---@return string
local function advice(root)
  local missing = 'The command dapeer is not on your PATH'
  local name_it = 'name it in setup{ bridge = { command = … } }'
  if root then
    return ('%s, and neither is uv, which would run it from %s. Install uv (`pipx install uv`), or %s.'):format(
      missing,
      root,
      name_it
    )
  end
  return ('%s. Put the folder of the dapeer that this plugin came with there, or %s.'):format(missing, name_it)
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
    return { 'uv', 'run', '--quiet', '--no-default-groups', '--project', root, 'dapeer' }
  end
  return nil, advice(root)
end

return M
