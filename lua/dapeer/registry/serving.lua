-- The calls of tools that cores make: how they begin, what a core is told of them, and what ends them from outside:
-- the core, its end, and that of Neovim.
local M = {}

-- Loaded here: what is called in a luv callback may load nothing.
local calls = require('dapeer.registry.calls')
local registry = require('dapeer.registry')
local rpc = require('dapeer.rpc')
local values = require('dapeer.results.values')

---Milliseconds between two looks for a core that has no line to us.
M.PERIOD = 3000

local GROUP = 'dapeer_calls'

---@type table<integer, table<integer, dapeer.Running>>  by channel of the core, by its number of the call
local of_core = require('dapeer.kept').part('calls')

---@type table<integer, uv.uv_timer_t>  by channel
local looks = {}

-- Not VimLeavePre: what answers there, such as a diff, is to be heard before it is cancelled.
local function watch_leave()
  vim.api.nvim_create_autocmd('VimLeave', {
    group = vim.api.nvim_create_augroup(GROUP, { clear = true }),
    callback = function()
      for _, channel in ipairs(vim.tbl_keys(of_core)) do
        M.abandon(channel)
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
-- while a caller may be waiting, a timer checks.
---@param channel integer
local function look_after(channel)
  if looks[channel] or rpc.is_watched(channel) then
    return
  end
  local timer = assert(vim.uv.new_timer())
  looks[channel] = timer
  timer:start(
    M.PERIOD,
    M.PERIOD,
    vim.schedule_wrap(function()
      local gone = rpc.has_ended(channel)
      if looks[channel] == timer and (gone or not of_core[channel]) then
        looks[channel] = nil
        timer:close()
        if gone then
          rpc.detach(channel)
          M.abandon(channel)
        end
      end
    end)
  )
end

---@param channel integer
---@param id integer
---@param run dapeer.Running
local function add(channel, id, run)
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
local function remove(channel, id)
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

---@param core dapeer.Core
---@param id integer
---@return fun(ok: boolean, text: string)
local function answer_to(core, id)
  local answered = false
  local function send(ok, text)
    registry.flush()
    rpc.send(core, 'tool_result', id, ok, text)
  end
  return function(ok, text)
    if answered then
      return
    end
    answered = true
    remove(core.channel, id)
    -- Whoever gets the answer knows the tools that the call has registered.
    if registry.is_dirty() and vim.in_fast_event() then
      vim.schedule(function()
        send(ok, text)
      end)
    else
      send(ok, text)
    end
  end
end

---@param core dapeer.Core
---@param id integer
---@return dapeer.Waiter
local function sink_of(core, id)
  local answer = answer_to(core, id)
  return {
    progress = function(done, total, message)
      rpc.send(core, 'tool_progress', id, done or vim.NIL, total or vim.NIL, message or vim.NIL)
    end,
    if_lost = function(value)
      local json = values.encode(value, 'result')
      if json then
        rpc.send(core, 'tool_if_lost', id, json)
      end
    end,
    done = function(value, err)
      if err then
        return answer(false, err)
      end
      local json, problem = values.encode(value, 'result')
      if json then
        answer(true, json)
      else
        answer(false, ('The tool returned a result that cannot be sent: %s.'):format(problem))
      end
    end,
  }
end

---@param sink dapeer.Waiter
---@param call { channel: integer, id: integer, name: string, arguments: string, client?: string }
local function begin(sink, call)
  local tool = registry.find(call.name)
  if not tool then
    return sink.done(nil, ('There is no tool %s in Neovim any more.'):format(call.name))
  end
  local given = vim.json.decode(call.arguments, { luanil = { object = true } })
  local run = calls.run(tool, given, sink, { client = call.client, channel = call.channel })
  if not run.over then
    add(call.channel, call.id, run)
  end
end

---Start a tool for a core. It gets `tool_started`, then any number of `tool_progress`, then one `tool_result`.
---@param channel integer
---@param id integer         the core's number of the call
---@param name string        of the tool
---@param arguments string   a JSON object
---@param options { client?: string, latest: number }  latest: Unix time after which the call must not start
function M.start(channel, id, name, arguments, options)
  local core = { channel = channel }
  if rpc.now() > options.latest then
    return -- it was told that Neovim does not answer, and must not be surprised
  end
  rpc.send(core, 'tool_started', id)
  local sink = sink_of(core, id)
  local call = { channel = channel, id = id, name = name, arguments = arguments, client = options.client }
  local ok, failure = pcall(begin, sink, call)
  if not ok then
    local why = calls.described(failure):gsub('^%S-:%d+: ', '')
    sink.done(nil, ('Neovim could not call the tool %s: %s'):format(name, why))
  end
end

---A core does not wait for a call any longer.
---@param channel integer
---@param id integer
function M.stop(channel, id)
  local run = remove(channel, id)
  if run then
    calls.cancel(run)
  end
end

---A core has ended: cancel its calls.
---@param channel integer
function M.abandon(channel)
  for _, id in ipairs(vim.tbl_keys(of_core[channel] or {})) do
    M.stop(channel, id)
  end
end

return M
