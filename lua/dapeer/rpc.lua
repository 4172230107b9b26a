--- The cores that are attached to this Neovim, and how they are told things.
local M = {}

---Counts changes of what is said between core and plugin.
M.VERSION = 1

---@class dapeer.Core
---@field channel integer the RPC channel of the core
---@field tap? string path of the socket that takes the sessions' messages
---@field secret? string what a connection to that socket must say first
---@field company? string[] the assistants that are connected to it
---@field line? uv.uv_pipe_t ends when the core does, in whatever way

---@type table<integer, dapeer.Core> by channel
local cores = require('dapeer.kept').table('cores')

---Unix seconds.
---@return number
function M.now()
  local seconds, micros = vim.uv.gettimeofday()
  return seconds + micros / 1e6
end

-- Nothing tells that an RPC channel has ended. So there is a connection to the core's socket on which nothing
-- is ever said: its end is the core's. Without it, running.lua looks.
---@param core dapeer.Core
local function watch(core)
  local line = assert(vim.uv.new_pipe())
  core.line = line
  line:connect(core.tap, function(problem)
    if line:is_closing() then
      return
    elseif problem then
      core.line = nil
      return line:close()
    end
    line:write(vim.json.encode({ secret = core.secret, line = true }) .. '\n')
    line:read_start(function(err, data)
      if (err or not data) and cores[core.channel] == core then
        vim.schedule(function()
          M.detach(core.channel)
        end)
      end
    end)
  end)
end

---A core joins. Returns the facts that it needs, and tells it every session that runs.
---@param channel integer
---@param opts { tap?: string, secret?: string }
---@return table facts
function M.attach(channel, opts)
  require('dapeer.nvim_dap.hook').install()
  require('dapeer.editor').watch()
  require('dapeer.editor.disk').watch()
  -- A core on another machine has its socket there.
  local reachable = opts.tap and vim.uv.fs_stat(opts.tap) ~= nil
  local core = { channel = channel, tap = reachable and opts.tap or nil, secret = opts.secret }
  cores[channel] = core
  if reachable then
    watch(core)
  end
  if require('dapeer.kept').table('opencode').told then
    require('dapeer.integrations.opencode.server').greet(core)
  end
  local dap = package.loaded['dap']
  return {
    sessions = dap and require('dapeer.nvim_dap.sessions').tell(core) or {},
    protocol = M.VERSION,
    pid = vim.uv.os_getpid(),
    clock = M.now(),
    cwd = vim.fn.getcwd(),
    version = tostring(vim.version()),
    breakpoints = dap and require('dapeer.nvim_dap.breakpoints').snapshot() or vim.empty_dict(),
    approve = require('dapeer.person.approvals').wants(),
    secrets = require('dapeer.config').get().secrets,
    tools = require('dapeer.registry').specs(),
  }
end

---Whether we hear of the end of a core, in whatever way it ends.
---@param channel integer
---@return boolean
function M.is_watched(channel)
  local core = cores[channel]
  return core ~= nil and core.line ~= nil
end

---@param channel integer
---@return boolean
function M.has_ended(channel)
  -- Neovim 0.10 describes a channel that has ended by a table that is not empty.
  return vim.api.nvim_get_chan_info(channel).id == nil
end

---A core tells which assistants are connected to it now.
---@param channel integer
---@param names string[]
function M.company(channel, names)
  if cores[channel] then
    cores[channel].company = names
    vim.cmd.redrawstatus({ bang = true })
  end
end

---A core leaves.
---@param channel integer
function M.detach(channel)
  local core = cores[channel]
  cores[channel] = nil
  if core and core.line and not core.line:is_closing() then
    core.line:close()
  end
  require('dapeer.registry.calls').abandon(channel)
end

---@return dapeer.Core[]
function M.attached()
  return vim.tbl_values(cores)
end

---Tell one core; a core that is gone is forgotten. Legal in a luv callback.
---@param core dapeer.Core
---@param kind string
function M.tell(core, kind, ...)
  local ok, err = pcall(vim.rpcnotify, core.channel, 'dapeer', kind, ...)
  if not ok and tostring(err):find('Invalid channel', 1, true) then
    vim.schedule(function()
      M.detach(core.channel)
    end)
    return true
  end
  return ok, err
end

---Tell every core. Legal in a luv callback.
---@param kind string
function M.notify(kind, ...)
  for _, core in pairs(cores) do
    M.tell(core, kind, ...)
  end
end

return M
