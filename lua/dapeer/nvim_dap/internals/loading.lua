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

---@param module string
---@param loaded fun(module: table)
---@param failed fun()  it is not there (yet)
local function when_required(module, loaded, failed)
  if package.loaded[module] then
    return loaded(package.loaded[module])
  end
  local before = package.preload[module]
  package.preload[module] = function(name)
    package.preload[name] = before
    local ok, found = pcall(load_original, name, before)
    if not ok then
      -- What `require` has put here meanwhile marks a module that is being loaded.
      package.loaded[name] = nil
      failed()
      error(found, 0)
    end
    found = found == nil and true or found
    package.loaded[name] = found
    loaded(found)
    return found
  end
end

---Call back with nvim-dap: at once when it is loaded, else in the moment in which somebody loads it, who does so
---by `require`. It is not loaded here.
---@param loaded fun(dap: table)
function M.when_loaded(loaded)
  if hook.installed then
    return
  end
  hook.installed = true
  when_required('dap', loaded, function()
    -- Whoever installs it later finds us waiting again.
    hook.installed = false
    M.when_loaded(loaded)
  end)
end

---Call back before nvim-dap makes its first session: it loads what it needs for that only then.
---@param loaded fun()
function M.when_debugging(loaded)
  when_required('dap.session', loaded, function()
    M.when_debugging(loaded)
  end)
end

return M
