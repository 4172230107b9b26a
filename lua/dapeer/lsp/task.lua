-- A tool's steps, one below the other, though each waits for something: a coroutine. Nothing blocks.
local M = {}

---@type table<thread, fun(result: any, err?: string)>
local callbacks = setmetatable({}, { __mode = 'k' })

-- Errors are caught here and not by pcall within: not every Lua can yield across that.
local function go_on(thread, ...)
  local ok, result = coroutine.resume(thread, ...)
  if ok and coroutine.status(thread) ~= 'dead' then
    return
  end
  local cb = callbacks[thread]
  callbacks[thread] = nil
  if ok then
    cb(result)
  elseif type(result) == 'table' and result.sentence then
    cb(nil, result.sentence)
  else
    cb(nil, debug.traceback(thread, tostring(result)))
  end
end

---Run a tool's steps; what they return is its result.
---@param cb fun(result: any, err?: string)
---@param steps fun(): any
function M.run(cb, steps)
  local thread = coroutine.create(steps)
  callbacks[thread] = cb
  go_on(thread)
end

---End the task with an error result.
---@param sentence string
---@return any  it never returns
function M.fail(sentence)
  error({ sentence = sentence }, 0)
end

---Within a task: wait for a callback. Only its first call counts; it may come at once.
---@param start fun(resume: fun(...))
---@return any ...  what the callback was given
function M.await(start)
  local thread = coroutine.running()
  local values, waiting = nil, false
  start(function(...)
    if values then
      return
    end
    values = { n = select('#', ...), ... }
    if waiting then
      go_on(thread)
    end
  end)
  if not values then
    waiting = true
    coroutine.yield()
  end
  return unpack(values, 1, values.n)
end

---Within a task: let Neovim do what it has put off.
function M.turn()
  M.await(vim.schedule)
end

---Call a function after some time, unless what is returned is called before.
---@param milliseconds integer
---@param callback fun()
---@return fun() cancel
function M.later(milliseconds, callback)
  local timer = vim.defer_fn(callback, milliseconds)
  return function()
    if not timer:is_closing() then
      timer:stop()
      timer:close()
    end
  end
end

return M
