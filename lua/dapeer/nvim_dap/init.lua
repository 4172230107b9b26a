--- Connects this plugin to nvim-dap once that is loaded, and sends its sessions to the cores.
local M = {}

---An error here is shown once, and does not affect nvim-dap.
---@param dap table the module `dap`
local function loaded(dap)
  for _, name in ipairs({
    'tap',
    'listeners',
    'breakpoints',
    'terminals',
    'children',
    'follow',
    'effects',
    'collecting',
  }) do
    local ok, err = pcall(function()
      require('dapeer.nvim_dap.' .. name).install(dap)
    end)
    if not ok then
      vim.schedule(function()
        vim.notify(('dapeer: %s could not follow nvim-dap: %s'):format(name, err), vim.log.levels.WARN)
      end)
    end
  end
end

---Follow nvim-dap, however late it is loaded.
function M.install()
  require('dapeer.nvim_dap.internals').when_loaded(loaded)
end

---Tell a core that has just joined of every session that runs.
---@param core dapeer.Core
---@return integer[] ids
function M.tell(core)
  local ids = {}
  for _, session in ipairs(require('dapeer.nvim_dap.sessions').all()) do
    -- A session whose adapter is still starting is announced with its first message.
    if session.seq > 1 then
      ids[#ids + 1] = session.id
      local tapped = require('dapeer.nvim_dap.tap').tell(core, session)
      if not tapped then
        require('dapeer.nvim_dap.listeners').tell(core, session)
      end
    end
  end
  return ids
end

return M
