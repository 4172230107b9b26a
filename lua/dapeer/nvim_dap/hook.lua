--- Notices when nvim-dap is loaded, however late, without loading it.
local M = {}

local state = require('dapeer.kept').part('hook')

---Load a module as `require` would have, had we not stood in the way.
---@param name string
---@return any
local function load_original(name)
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

---Call back with nvim-dap: at once when it is loaded, else in the moment in which somebody loads it.
---@param loaded fun(dap: table)
function M.install(loaded)
  if state.installed then
    return
  end
  state.installed = true
  if package.loaded['dap'] then
    return loaded(package.loaded['dap'])
  end
  package.preload['dap'] = function(name)
    package.preload[name] = nil
    local ok, dap = pcall(load_original, name)
    if not ok then
      -- It is not there (yet): whoever installs it later finds us waiting again. What `require` has
      -- put here meanwhile marks a module that is being loaded.
      package.loaded[name] = nil
      state.installed = false
      M.install(loaded)
      error(dap, 0)
    end
    dap = dap == nil and true or dap
    package.loaded[name] = dap
    loaded(dap)
    return dap
  end
end

return M
