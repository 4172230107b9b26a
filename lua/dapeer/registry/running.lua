-- The calls of cores that run; and what ends them from outside: Neovim's end, and that of a core.
local M = {}

---Milliseconds between two looks for a core that has no line to us.
M.PERIOD = 3000

local GROUP = 'dapeer_calls'

---@type table<integer, table<integer, dapeer.Running>>  by channel of the core, by its number of the call
local of_core = require('dapeer.kept').table('calls')

---@type table<integer, uv.uv_timer_t>  by channel
local looks = {}

-- Not VimLeavePre: what answers there, such as a diff, is to be heard before it is cancelled.
local function watch_leave()
  vim.api.nvim_create_autocmd('VimLeave', {
    group = vim.api.nvim_create_augroup(GROUP, { clear = true }),
    callback = function()
      for _, channel in ipairs(vim.tbl_keys(of_core)) do
        require('dapeer.registry.calls').abandon(channel)
      end
    end,
  })
end

-- Later: a call may end in a luv callback.
local unwatch_leave = vim.schedule_wrap(function()
  if next(of_core) == nil then
    pcall(vim.api.nvim_del_augroup_by_name, GROUP)
  end
end)

-- A core on another machine has no line to us (rpc.lua), and Neovim has no event for the end of a channel. So,
-- as long as somebody may wait in vain, we look.
---@param channel integer
local function look_after(channel)
  if looks[channel] or require('dapeer.rpc').is_watched(channel) then
    return
  end
  local timer = assert(vim.uv.new_timer())
  looks[channel] = timer
  timer:start(
    M.PERIOD,
    M.PERIOD,
    vim.schedule_wrap(function()
      local gone = require('dapeer.rpc').has_ended(channel)
      if looks[channel] == timer and (gone or not of_core[channel]) then
        looks[channel] = nil
        timer:close()
        if gone then
          require('dapeer.rpc').detach(channel)
        end
      end
    end)
  )
end

---@param channel integer
---@param id integer
---@param run dapeer.Running
function M.add(channel, id, run)
  if next(of_core) == nil then
    watch_leave()
  end
  of_core[channel] = of_core[channel] or {}
  of_core[channel][id] = run
  look_after(channel)
end

---A call runs no longer, or is not to. Legal in a luv callback.
---@param channel integer
---@param id integer
---@return dapeer.Running?  nil: it did not
function M.remove(channel, id)
  local runs = of_core[channel]
  local run = runs and runs[id]
  if run then
    runs[id] = nil
    if next(runs) == nil then
      of_core[channel] = nil
      unwatch_leave()
    end
  end
  return run
end

---@param channel integer
---@return integer[]  the calls that run
function M.of(channel)
  return vim.tbl_keys(of_core[channel] or {})
end

return M
