--- The cores that are attached to this Neovim, and notifications to them.
local M = {}

---@class dapeer.Core
---@field channel integer the RPC channel of the core
---@field tap? string path of the socket that takes the sessions' messages
---@field secret? string what a connection to that socket must say first
---@field company? string[] the assistants that are connected to it
---@field left? fun(channel: integer) called once when it has ended
---@field line? uv.uv_pipe_t closes when the core ends

---@type table<integer, dapeer.Core> by channel
local cores = require('dapeer.kept').part('cores')

---@type table<string, table>  by kind
local published = require('dapeer.kept').part('published')

---Unix seconds.
---@return number
function M.now()
  local seconds, micros = vim.uv.gettimeofday()
  return seconds + micros / 1e6
end

-- No event reports the end of an RPC channel. So there is a connection to the core's socket on which nothing
-- is ever said: its end is the core's. Without it, registry/serving.lua looks.
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

---Attach a core. It gets what was published, and every notification from now on.
---@param core dapeer.Core
function M.join(core)
  cores[core.channel] = core
  if core.tap then
    watch(core)
  end
  for kind, value in pairs(published) do
    M.send(core, kind, value)
  end
end

---Whether this Neovim notices the end of a core.
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

---A core reports its connected assistants.
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
  if core and core.left then
    core.left(channel)
  end
  if core then
    pcall(vim.api.nvim_exec_autocmds, 'User', {
      pattern = 'DapeerDetached', -- for ourselves
      modeline = false,
      data = { channel = channel },
    })
  end
end

---@return dapeer.Core[]
function M.attached()
  return vim.tbl_values(cores)
end

---Notify one core; a core that has ended is forgotten. Legal in a luv callback.
---@param core dapeer.Core
---@param kind string
---@return boolean sent  whether the core was attached until then
---@return string? problem
function M.send(core, kind, ...)
  local ok, err = pcall(vim.rpcnotify, core.channel, 'dapeer', kind, ...)
  if not ok and tostring(err):find('Invalid channel', 1, true) then
    vim.schedule(function()
      M.detach(core.channel)
    end)
    return true
  end
  return ok, not ok and tostring(err) or nil
end

---Tell every core. Legal in a luv callback.
---@param kind string
function M.notify(kind, ...)
  for _, core in pairs(cores) do
    M.send(core, kind, ...)
  end
end

---Tell every core, and those that join later.
---@param kind string
---@param value table  an empty one is not sent to new cores
function M.publish(kind, value)
  published[kind] = next(value) ~= nil and value or nil
  M.notify(kind, value)
end

return M
