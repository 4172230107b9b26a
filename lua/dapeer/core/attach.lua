--- Attaches a core: the facts about this Neovim that it gets.
local M = {}

---Counts changes of what is said between core and plugin.
M.VERSION = 1

---Attach a core. Returns the facts that it needs, and sends it every running session.
---@param channel integer
---@param opts { tap?: string, secret?: string }
---@return table facts
function M.attach(channel, opts)
  local rpc, nvim_dap = require('dapeer.rpc'), require('dapeer.nvim_dap')
  nvim_dap.install()
  require('dapeer.person.attention').watch()
  require('dapeer.editor.windows').watch()
  require('dapeer.editor.disk').watch()
  -- A core on another machine has its socket there.
  local reachable = opts.tap and vim.uv.fs_stat(opts.tap) ~= nil
  ---@type dapeer.Core
  local core = {
    channel = channel,
    tap = reachable and opts.tap or nil,
    secret = opts.secret,
    left = function()
      require('dapeer.registry.serving').abandon(channel)
      require('dapeer.person.approvals').left(channel)
    end,
  }
  rpc.join(core)
  local dap = package.loaded['dap']
  return {
    sessions = dap and nvim_dap.introduce(core) or {},
    protocol = M.VERSION,
    pid = vim.uv.os_getpid(),
    clock = rpc.now(),
    cwd = vim.fn.getcwd(),
    version = tostring(vim.version()),
    breakpoints = dap and require('dapeer.nvim_dap.breakpoints').snapshot() or vim.empty_dict(),
    exceptions = require('dapeer.nvim_dap.exceptions').filters(),
    approve = require('dapeer.person.approvals').wants(channel),
    secrets = require('dapeer.config').get().secrets,
    tools = require('dapeer.registry').specs(),
  }
end

return M
