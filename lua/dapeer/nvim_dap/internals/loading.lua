-- nvim-dap comes: at once, or in the moment in which somebody loads it.
local M = {}

local hook = require('dapeer.kept').part('hook', { installed = false })

---Whether somebody waits for nvim-dap, or has got it.
---@return boolean
function M.is_awaited()
  return hook.installed
end

---Load a module as `require` would have, had we not stood in the way.
---@param name string
---@param preload? function  what stood there before us
---@return any
local function load_original(name, preload)
  if preload then
    return preload(name)
  end
  local tried = {}
  for index = 2, #package.loaders do
    local loader = package.loaders[index](name)
    if type(loader) == 'function' then
      return loader(name)
    end
    tried[#tried + 1] = loader
  end
  error(("module '%s' not found:%s"):format(name, table.concat(tried)), 0)
end

---Call back with nvim-dap: at once when it is loaded, else in the moment in which somebody loads it, who does so
---by `require`. It is not loaded here.
---@param loaded fun(dap: table)
function M.when_loaded(loaded)
  if hook.installed then
    return
  end
  hook.installed = true
  if package.loaded['dap'] then
    return loaded(package.loaded['dap'])
  end
  local before = package.preload['dap']
  package.preload['dap'] = function(name)
    package.preload[name] = before
    local ok, dap = pcall(load_original, name, before)
    if not ok then
      -- It is not there (yet): whoever installs it later finds us waiting again. What `require` has
      -- put here meanwhile marks a module that is being loaded.
      package.loaded[name] = nil
      hook.installed = false
      M.when_loaded(loaded)
      error(dap, 0)
    end
    dap = dap == nil and true or dap
    package.loaded[name] = dap
    loaded(dap)
    return dap
  end
end

return M
