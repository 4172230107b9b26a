-- The calls of tools that run: their handlers, how they answer, how they are cancelled.
local M = {}

---@class dapeer.Running
---@field tool string
---@field over boolean       it has answered, or nobody waits for an answer
---@field cancelled boolean
---@field closers fun()[]    what is to be done when it is cancelled

---@class dapeer.Sink  Who waits for a call.
---@field done fun(value: any, err?: string)
---@field progress fun(done?: number, total?: number, message?: string)

---@type table<integer, table<integer, dapeer.Running>>  by channel of the core, by its number of the call
local of_core = require('dapeer.kept').table('calls')

local function warn(sentence)
  vim.schedule(function()
    vim.notify('dapeer: ' .. sentence, vim.log.levels.WARN)
  end)
end

-- What the author of a tool is told of an error: a handler may throw anything.
local function described(problem)
  return type(problem) == 'string' and problem or vim.inspect(problem)
end

---@param run dapeer.Running
---@param callback fun()
local function close(run, callback)
  local ok, problem = pcall(callback)
  if not ok then
    warn(('cancelling %s failed: %s'):format(run.tool, described(problem)))
  end
end

---@param run dapeer.Running
---@param sink dapeer.Sink
---@param caller table
---@return dapeer.Context
local function context(run, sink, caller)
  local ctx = { caller = caller }
  function ctx.cancelled()
    return run.cancelled
  end
  function ctx.on_cancel(callback)
    if run.cancelled then
      close(run, callback)
    else
      table.insert(run.closers, callback)
    end
  end
  function ctx.progress(first, total, message)
    if run.over then
      return
    elseif type(first) == 'number' then
      sink.progress(first, total, message)
    else
      sink.progress(nil, nil, tostring(first))
    end
  end
  return ctx
end

---@param run dapeer.Running
---@param sink dapeer.Sink
local function callback(run, sink)
  local answered = false
  return function(value, err)
    if answered then
      return warn(('the tool %s has called back twice; only the first counts.'):format(run.tool))
    end
    answered = true
    if not run.over then
      run.over = true
      sink.done(value, err ~= nil and described(err) or nil)
    end
  end
end

---Run a tool; `sink.done` gets its answer, now or later, once. Nothing is told after `cancel`.
---@param tool dapeer.Tool
---@param arguments table  as the caller gave them
---@param sink dapeer.Sink
---@param caller? table
---@return dapeer.Running
function M.run(tool, arguments, sink, caller)
  local run = { tool = tool.name, over = false, cancelled = false, closers = {} }
  local complete, problem = require('dapeer.schema').complete(tool, arguments)
  if not complete then
    run.over = true
    sink.done(nil, problem)
    return run
  end
  local answer = callback(run, sink)
  local ok, failure = pcall(tool.execute, answer, complete, context(run, sink, caller or {}))
  if ok then
    return run
  end
  local sentence = ('The tool %s failed: %s'):format(tool.name, described(failure))
  if run.over then
    warn(sentence .. ' (after it had answered)')
  else
    answer(nil, sentence)
  end
  return run
end

---Nobody waits for the answer any more: what the call has opened is closed.
---@param run dapeer.Running
function M.cancel(run)
  if run.over then
    return
  end
  run.over, run.cancelled = true, true
  for _, closer in ipairs(run.closers) do
    close(run, closer)
  end
end

---@param core dapeer.Core
---@param id integer
---@return dapeer.Sink
local function sink_of(core, id)
  local rpc = require('dapeer.rpc')
  local function answer(ok, text)
    if of_core[core.channel] then
      of_core[core.channel][id] = nil
    end
    rpc.tell(core, 'tool_result', id, ok, text)
  end
  return {
    progress = function(done, total, message)
      rpc.tell(core, 'tool_progress', id, done or vim.NIL, total or vim.NIL, message or vim.NIL)
    end,
    done = function(value, err)
      if err then
        return answer(false, err)
      end
      local json, problem = require('dapeer.values').encode(value, 'result')
      if json then
        answer(true, json)
      else
        answer(false, ('The tool gave a result that cannot be sent: %s.'):format(problem))
      end
    end,
  }
end

---A core calls a tool. It is told `tool_started`, then any number of `tool_progress`, then one `tool_result`.
---@param channel integer
---@param id integer         the core's number of the call
---@param name string        of the tool
---@param arguments string   a JSON object
---@param options { client?: string, latest: number }  latest: Unix time after which nobody waits for a start
function M.start(channel, id, name, arguments, options)
  local rpc = require('dapeer.rpc')
  local core = { channel = channel }
  if rpc.now() > options.latest then
    return -- it was told that Neovim does not answer, and must not be surprised
  end
  rpc.tell(core, 'tool_started', id)
  local tool = require('dapeer.registry').find(name)
  local sink = sink_of(core, id)
  if not tool then
    return sink.done(nil, ('There is no tool %s in Neovim any more.'):format(name))
  end
  local given = vim.json.decode(arguments, { luanil = { object = true } })
  local run = M.run(tool, given, sink, { client = options.client, channel = channel })
  if not run.over then
    of_core[channel] = of_core[channel] or {}
    of_core[channel][id] = run
  end
end

---A core does not wait for a call any longer.
---@param channel integer
---@param id integer
function M.stop(channel, id)
  local run = (of_core[channel] or {})[id]
  if run then
    of_core[channel][id] = nil
    M.cancel(run)
  end
end

---A core is gone: so is everybody who waited for its calls.
---@param channel integer
function M.abandon(channel)
  local runs = of_core[channel] or {}
  of_core[channel] = nil
  for _, run in pairs(runs) do
    M.cancel(run)
  end
end

return M
