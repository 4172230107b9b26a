-- One call of a tool: its handler, how it answers, how it is cancelled.
local M = {}

-- Loaded here: what is called in a luv callback may load nothing.
local problems = require('dapeer.registry.problems')
local fitting = require('dapeer.results.fitting')

---@class dapeer.Running
---@field tool string
---@field over boolean       it has returned, or was cancelled
---@field cancelled boolean
---@field closers fun()[]    what is to be done when it is cancelled
---@field report fun(first: any, total: any, message: any)
---@field quiet fun(last: boolean)  no more progress is reported

---@class dapeer.Sink  Who waits for a call.
---@field done fun(value: any, err?: string)
---@field progress fun(done?: number, total?: number, message?: string)

local LONGEST = 100000 -- bytes of a sentence

---@param run dapeer.Running
---@param sentence string
local function warn(run, sentence)
  problems.note('call', run.tool, sentence)
end

---The message for the author of a tool that has failed: a handler may throw anything.
---@param problem any
---@return string
function M.described(problem)
  return type(problem) == 'string' and problem or vim.inspect(problem)
end

---@param run dapeer.Running
---@param callback fun()
local function close(run, callback)
  local ok, problem = pcall(callback)
  if not ok then
    warn(run, ('cancelling %s failed: %s'):format(run.tool, M.described(problem)))
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
    return ('The tool %s failed without saying why.'):format(run.tool)
  end
  return fitting.head(M.described(err), LONGEST)
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

---Run a tool; `sink.done` gets its result once, now or later, but not after `cancel`.
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
  local sentence = ('The tool %s failed: %s'):format(tool.name, M.described(failure))
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

return M
