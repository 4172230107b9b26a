--- Connects this plugin to nvim-dap once that is loaded, and sends its sessions to the cores.
local M = {}

---Tell sessions of the changes of nvim-dap that are off: of all when they begin, and of each that fails later.
---@param dap table
local function report_what_is_off(dap)
  local internals = require('dapeer.nvim_dap.internals')
  local function forward(session, body)
    pcall(require('dapeer.nvim_dap.tap').say, session, 'dapeerPatchOff', body)
    pcall(require('dapeer.nvim_dap.listeners').say, session, 'dapeerPatchOff', body)
  end
  dap.listeners.after.event_initialized['dapeer.patches'] = function(session)
    for _, body in ipairs(internals.left_alone()) do
      forward(session, body)
    end
  end
  internals.report_by(function(body)
    for _, session in ipairs(require('dapeer.nvim_dap.sessions').all()) do
      forward(session, body)
    end
  end)
end

---An error here is shown once, and does not affect nvim-dap.
---@param dap table the module `dap`
---@param names string[]
local function install(dap, names)
  for _, name in ipairs(names) do
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

---@param dap table the module `dap`
local function loaded(dap)
  report_what_is_off(dap)
  install(dap, { 'breakpoints' })
  -- All else is about sessions.
  require('dapeer.nvim_dap.internals').when_debugging(function()
    install(dap, {
      'tap',
      'listeners',
      'terminals',
      'children',
      'source_text',
      'follow',
      'effects',
      'holding',
      'collecting',
      'exceptions',
    })
  end)
end

---Follow nvim-dap, however late it is loaded.
function M.install()
  require('dapeer.nvim_dap.internals').when_loaded(loaded)
end

---Tell a core that has just joined of every session that runs.
---@param core dapeer.Core
---@return integer[] ids
function M.introduce(core)
  local ids = {}
  for _, session in ipairs(require('dapeer.nvim_dap.sessions').all()) do
    -- A session whose adapter is still starting is announced with its first message.
    if session.seq > 1 then
      ids[#ids + 1] = session.id
      local tapped = require('dapeer.nvim_dap.tap').introduce(core, session)
      if not tapped then
        require('dapeer.nvim_dap.listeners').introduce(core, session)
      end
    end
  end
  return ids
end

return M
