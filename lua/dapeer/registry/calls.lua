-- The calls of tools that run: their handlers, how they answer, how they are cancelled.
local M = {}

-- Loaded here: what is called in a luv callback may load nothing.
local problems = require('dapeer.registry.problems')
local values = require('dapeer.results.values')

---@class dapeer.Running
---@field tool string
---@field over boolean       it has answered, or nobody waits for an answer
---@field cancelled boolean
---@field closers fun()[]    what is to be done when it is cancelled
---@field report fun(first: any, total: any, message: any)
---@field quiet fun(last: boolean)  no more progress is told

---@class dapeer.Sink  Who waits for a call.
---@field done fun(value: any, err?: string)
---@field progress fun(done?: number, total?: number, message?: string)

local LONGEST = 100000 -- bytes of a sentence

---@param run dapeer.Running
---@param sentence string
local function warn(run, sentence)
  problems.note('call', run.tool, sentence)
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
    warn(run, ('cancelling %s failed: %s'):format(run.tool, described(problem)))
  end
end

---@param run dapeer.Running
---@param caller table
---@return dapeer.Context
local function context(run, caller)
  local ctx = { caller = caller, progress = run.report }
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
  return ctx
end

---@param run dapeer.Running
---@param err any
---@return string
local function sentence_of(run, err)
  if err == '' then
    return ('The tool %s failed, and does not say why.'):format(run.tool)
  end
  return values.cut(described(err), LONGEST)
end

---@param run dapeer.Running
---@param sink dapeer.Sink
local function callback(run, sink)
  local answered = false
  return function(value, err)
    if answered then
      return warn(run, ('the tool %s has called back twice; only the first counts.'):format(run.tool))
    end
    answered = true
    if not run.over then
      run.over = true
      run.quiet(true)
      sink.done(value, err ~= nil and sentence_of(run, err) or nil)
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
  run.report, run.quiet = require('dapeer.registry.progress').throttled(sink.progress)
  local answer = callback(run, sink)
  local ok, failure = pcall(function()
    local complete, problem = require('dapeer.registry.schema').complete(tool, arguments)
    if complete then
      tool.execute(answer, complete, context(run, caller or {}))
    else
      answer(nil, problem)
    end
  end)
  if ok then
    return run
  end
  local sentence = ('The tool %s failed: %s'):format(tool.name, described(failure))
  if run.over then
    warn(run, sentence .. ' (after it had answered)')
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
  run.quiet(false)
  for _, closer in ipairs(run.closers) do
    close(run, closer)
  end
end

---@param core dapeer.Core
---@param id integer
---@return fun(ok: boolean, text: string)
local function answer_to(core, id)
  -- Not later: a luv callback may load nothing.
  local registry, rpc, running = require('dapeer.registry'), require('dapeer.rpc'), require('dapeer.registry.running')
  local answered = false
  local function send(ok, text)
    registry.flush()
    rpc.tell(core, 'tool_result', id, ok, text)
  end
  return function(ok, text)
    if answered then
      return
    end
    answered = true
    running.remove(core.channel, id)
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
---@return dapeer.Sink
local function sink_of(core, id)
  local rpc, answer = require('dapeer.rpc'), answer_to(core, id)
  return {
    progress = function(done, total, message)
      rpc.tell(core, 'tool_progress', id, done or vim.NIL, total or vim.NIL, message or vim.NIL)
    end,
    done = function(value, err)
      if err then
        return answer(false, err)
      end
      local json, problem = values.encode(value, 'result')
      if json then
        answer(true, json)
      else
        answer(false, ('The tool gave a result that cannot be sent: %s.'):format(problem))
      end
    end,
  }
end

---@param sink dapeer.Sink
---@param call { channel: integer, id: integer, name: string, arguments: string, client?: string }
local function begin(sink, call)
  local tool = require('dapeer.registry').find(call.name)
  if not tool then
    return sink.done(nil, ('There is no tool %s in Neovim any more.'):format(call.name))
  end
  local given = vim.json.decode(call.arguments, { luanil = { object = true } })
  local run = M.run(tool, given, sink, { client = call.client, channel = call.channel })
  if not run.over then
    require('dapeer.registry.running').add(call.channel, call.id, run)
  end
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
  local sink = sink_of(core, id)
  local call = { channel = channel, id = id, name = name, arguments = arguments, client = options.client }
  local ok, failure = pcall(begin, sink, call)
  if not ok then
    local why = described(failure):gsub('^%S-:%d+: ', '')
    sink.done(nil, ('Neovim could not call the tool %s: %s'):format(name, why))
  end
end

---A core does not wait for a call any longer.
---@param channel integer
---@param id integer
function M.stop(channel, id)
  local run = require('dapeer.registry.running').remove(channel, id)
  if run then
    M.cancel(run)
  end
end

---A core is gone: so is everybody who waited for its calls.
---@param channel integer
function M.abandon(channel)
  for _, id in ipairs(require('dapeer.registry.running').of(channel)) do
    M.stop(channel, id)
  end
end

return M
