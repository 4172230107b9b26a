--- Notices when nvim-dap is loaded, however late, without loading it.
local M = {}

local state = require('dapeer.kept').table('hook')

---What is done to nvim-dap once it is there. An error here is told once and breaks nothing of nvim-dap's.
---@param dap table the module `dap`
local function loaded(dap)
  for _, part in ipairs({ 'tap', 'listeners', 'breakpoints', 'terminals', 'children', 'follow', 'effects' }) do
    local name = 'dapeer.nvim_dap.' .. part
    local ok, err = pcall(function()
      require(name).install(dap)
    end)
    if not ok then
      vim.schedule(function()
        vim.notify(('dapeer: %s could not follow nvim-dap: %s'):format(name, err), vim.log.levels.WARN)
      end)
    end
  end
end

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

---Follow nvim-dap: at once when it is loaded, else in the moment in which somebody loads it.
function M.install()
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
      M.install()
      error(dap, 0)
    end
    dap = dap == nil and true or dap
    package.loaded[name] = dap
    loaded(dap)
    return dap
  end
end

return M
