-- One call of a tool: its handler, how it answers, how it is cancelled.
local M = {}

-- Loaded here: what is called in a luv callback may load nothing.
local problems = require('dapeer.registry.problems')
local fitting = require('dapeer.results.fitting')
local values = require('dapeer.results.values')

---@class dapeer.Running
---@field tool string
---@field over boolean       it has answered, or was cancelled
---@field cancelled boolean
---@field closers fun()[]    what is to be done when it is cancelled
---@field report fun(first: any, total: any, message: any)
---@field if_lost fun(value: any)
---@field quiet fun(last: boolean)  no more progress is reported
---@field timer? uv.uv_timer_t      until the call is over, or is found silent
---@field reported? boolean         the tool has reported progress
---@field problem? string           why the returned value is no result

---@class dapeer.Waiter  Who waits for a call.
---@field done fun(value: any, err?: string)
---@field progress fun(done?: number, total?: number, message?: string)
---@field if_lost? fun(value: any)  what the caller gets if this Neovim ends before `done`

local LONGEST = 100000 -- bytes of a sentence

---Milliseconds after which a call without an answer is looked at.
M.PATIENCE = 10 * 1000

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
  local ctx = { caller = caller, if_lost = run.if_lost }
  function ctx.progress(first, total, message)
    run.reported = true
    run.report(first, total, message)
  end
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
local function end_watch(run)
  if run.timer then
    run.timer:close()
    run.timer = nil
  end
end

---@param run dapeer.Running
---@param sink dapeer.Waiter
---@param value any
---@param err? any
local function finish(run, sink, value, err)
  if run.over then
    return
  end
  run.over = true
  end_watch(run)
  run.quiet(true)
  -- An error made by `MCP.error` has all that the caller gets, however a tool hands it over.
  if type(err) == 'table' and err.isError then
    value, err = err, nil
  end
  sink.done(value, err ~= nil and sentence_of(run, err) or nil)
end

---@param run dapeer.Running
---@param sink dapeer.Waiter
---@return fun(value: any, err?: any, how?: string)  `how`: what the tool did, if it is not calling back
local function callback(run, sink)
  local first
  return function(value, err, how)
    if first then
      return warn(run, ('the tool %s has %s; only the first counts.'):format(run.tool, first))
    end
    first = how and how .. ' and called back' or 'called back twice'
    finish(run, sink, value, err)
  end
end

-- How tools name the callback.
local CALLBACK = { cb = true, callback = true, done = true }

-- What a tool is called with. mcp-tools.nvim had tools of a single parameter: the callback, or the arguments. So
-- that parameter is both, the arguments, which can be called; unless its name says that it is the callback: much of
-- Neovim, such as `vim.ui.input`, takes nothing but a function.
---@param tool dapeer.Tool
---@param answer fun(value: any, err?: any)
---@param arguments table
---@param ctx dapeer.Context
local function parameters(tool, answer, arguments, ctx)
  local info = debug.getinfo(tool.execute, 'u')
  if info.nparams ~= 1 or info.isvararg or CALLBACK[debug.getlocal(tool.execute, 1)] then
    return answer, arguments, ctx
  end
  return setmetatable(arguments, {
    __call = function(_, value, err)
      answer(value, err)
    end,
  })
end

-- What `execute` has returned: its result, unless it has called back, or returned nothing. What JSON cannot hold is
-- the handle of something that it waits for, such as a process.
---@param run dapeer.Running
---@param answer fun(value: any, err?: any, how?: string)
---@param value any
---@param err any
local function take(run, answer, value, err)
  if run.over or (value == nil and err == nil) then
    return
  elseif value == nil then
    return answer(nil, err, 'returned an error')
  end
  local json, problem = values.encode(value, 'result')
  if json then
    answer(value, nil, 'returned a value')
  else
    run.problem = problem
  end
end

-- A callback that nobody holds is never called: that is no tool at work, but one that has forgotten to answer.
---@param run dapeer.Running
---@param sink dapeer.Waiter
---@param callbacks table  the callback, weakly
local function look(run, sink, callbacks)
  end_watch(run)
  collectgarbage()
  if next(callbacks) then
    if not run.reported then
      local waits = 'The tool %s has neither returned a value nor called its callback for %g s.'
      run.report(waits:format(run.tool, M.PATIENCE / 1000))
    end
    return
  end
  local what = run.problem and ('returned a value that can be sent (%s)'):format(run.problem) or 'returned a value'
  local sentence = ('The tool %s neither %s nor called its callback.'):format(run.tool, what)
  warn(run, sentence)
  finish(run, sink, nil, sentence .. ' It has to return its result, or to call cb(result).')
end

---@param tool dapeer.Tool
---@param run dapeer.Running
---@param sink dapeer.Waiter
---@param callbacks table
local function watch(tool, run, sink, callbacks)
  -- Those of the plugin always answer.
  if run.over or tool.group then
    return
  end
  run.timer = assert(vim.uv.new_timer())
  run.timer:start(M.PATIENCE, 0, function()
    look(run, sink, callbacks)
  end)
end

---Run a tool; `sink.done` gets its result once, now or later, but not after `cancel`.
---@param tool dapeer.Tool
---@param arguments table  as the caller gave them
---@param sink dapeer.Waiter
---@param caller? table
---@return dapeer.Running
function M.run(tool, arguments, sink, caller)
  local run = { tool = tool.name, over = false, cancelled = false, closers = {} }
  run.if_lost = sink.if_lost or function() end
  run.report, run.quiet = require('dapeer.registry.progress').throttled(sink.progress)
  local answer = callback(run, sink)
  local ok, failure = pcall(function()
    local complete, problem = require('dapeer.registry.schema').complete(tool, arguments)
    if complete then
      local ctx = context(run, caller or {})
      take(run, answer, tool.execute(parameters(tool, answer, complete, ctx)))
    else
      answer(nil, problem)
    end
  end)
  if ok then
    watch(tool, run, sink, setmetatable({ answer }, { __mode = 'v' }))
    return run
  end
  local sentence = ('The tool %s failed: %s'):format(tool.name, M.described(failure))
  if run.over then
    warn(run, sentence .. ' (after it had answered)')
  else
    answer(nil, type(failure) == 'table' and failure.isError and failure or sentence, 'failed')
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
  end_watch(run)
  run.quiet(false)
  for _, closer in ipairs(run.closers) do
    close(run, closer)
  end
end

return M
