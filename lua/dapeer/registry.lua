-- The tools that are written in Lua: the built-in ones, those of `setup`, those that are registered.
local M = {}

local LONGEST_NAME = 40

---@class dapeer.Registry
---@field registered table<string, dapeer.Tool>
---@field custom table<string, dapeer.Tool>    from `setup{ custom_tools = … }`
---@field removed table<string, boolean>       built-in tools that the person has unregistered
---@field refused table<string, string>        by name: why a core could not take it
---@field problems string[]                    what was wrong with tools of `setup`, a sentence each
---@field dirty boolean                        the cores have not been told of a change
---@field tasks table<string, table>           calls by Lua, see `execute`
---@field task integer
local state = require('dapeer.kept').table('registry')
state.registered = state.registered or {}
state.custom = state.custom or {}
state.removed = state.removed or {}
state.refused = state.refused or {}
state.problems = state.problems or {}
state.tasks = state.tasks or {}
state.task = state.task or 0

---@param tool any
---@return string?  what is wrong with it, as a sentence
local function flaw(tool)
  if type(tool) ~= 'table' then
    return 'A tool is a table with name, description and execute.'
  end
  local name = tool.name
  if type(name) ~= 'string' or not name:match('^[%w_-]+$') or #name > LONGEST_NAME then
    return ("A tool's name is 1 to %d letters, digits, _ or -; this one is %s."):format(
      LONGEST_NAME,
      vim.inspect(name)
    )
  elseif type(tool.description) ~= 'string' or tool.description == '' then
    return ('The tool %s needs a description: it is all that the assistant knows of it.'):format(name)
  elseif type(tool.execute) ~= 'function' then
    return ('The tool %s needs execute = function(cb, args, ctx).'):format(name)
  elseif tool.timeout ~= nil and (type(tool.timeout) ~= 'number' or tool.timeout < 0) then
    return ('The timeout of the tool %s is milliseconds, 0 for none.'):format(name)
  end
end

local function is_schema(argument)
  return type(argument) == 'table' and (next(argument) == nil or not vim.islist(argument))
end

---@param tool dapeer.Tool
---@return string?
local function flaw_of_arguments(tool)
  if tool.parameters ~= nil and not is_schema(tool.parameters) then
    return ('The parameters of the tool %s are a JSON Schema: a table.'):format(tool.name)
  elseif tool.args ~= nil and not (is_schema(tool.args) and vim.iter(tool.args):all(function(_, argument)
    return is_schema(argument)
  end)) then
    return ('The args of the tool %s are a table of name = { type = … }.'):format(tool.name)
  end
  local ok, schema = pcall(require('dapeer.schema').of, tool)
  local json, problem = nil, schema
  if ok then
    json, problem = require('dapeer.values').encode(schema, 'its schema')
  end
  return not json and ('The arguments of the tool %s: %s.'):format(tool.name, problem) or nil
end

local function warn(sentence)
  vim.notify('dapeer: ' .. sentence, vim.log.levels.WARN)
end

local function problem_with(sentence)
  if not vim.tbl_contains(state.problems, sentence) then
    table.insert(state.problems, sentence)
    warn(sentence)
  end
end

---The tools have changed: every core is told, once for all changes made in one go.
function M.changed()
  if state.dirty or #require('dapeer.rpc').attached() == 0 then
    return
  end
  state.dirty = true
  vim.schedule(function()
    state.dirty = false
    require('dapeer.rpc').notify('tools', M.specs())
  end)
end

---Add a tool; one of the same name is replaced, a built-in one too.
---@param tool dapeer.Tool
function M.register(tool)
  local problem = flaw(tool) or flaw_of_arguments(tool)
  if problem then
    error('dapeer: ' .. problem, 0)
  end
  state.registered[tool.name] = tool
  state.removed[tool.name] = nil
  state.refused[tool.name] = nil
  M.changed()
end

---Remove a tool; a built-in one stays away until it is registered again.
---@param name string
---@return boolean  whether there was one
function M.unregister(name)
  local there = M.find(name) ~= nil
  state.registered[name] = nil
  state.custom[name] = nil
  if there then
    state.removed[name] = true
    M.changed()
  end
  return there
end

-- A handler of `custom_tools` returns its result.
---@return dapeer.Tool?
---@return string? problem
local function custom(name, given)
  if type(given) ~= 'table' or type(given.handler) ~= 'function' then
    return nil, ('The tool %s needs handler = function(params).'):format(name)
  end
  local tool = vim.tbl_extend('force', given, {
    name = name,
    execute = function(cb, args, ctx)
      cb(given.handler(args, ctx))
    end,
  })
  local problem = flaw(tool) or flaw_of_arguments(tool)
  return not problem and tool or nil, problem
end

---Take the tools of `setup{ custom_tools = … }`. One that is wrong is named, and does not take the others along.
---@param tools table<string, { description: string, parameters?: table, handler: function }>
function M.customize(tools)
  state.custom = {}
  for name, given in vim.spairs(tools) do
    local tool, problem = custom(name, given)
    if tool then
      state.custom[name] = tool
      state.removed[name] = nil
    else
      problem_with('setup: custom_tools: ' .. problem)
    end
  end
  M.changed()
end

---@return table<string, dapeer.Tool>
local function all()
  local tools = {}
  for name, tool in pairs(require('dapeer.tools').built_in(problem_with)) do
    if not state.removed[name] then
      tools[name] = tool
    end
  end
  return vim.tbl_extend('force', tools, state.custom, state.registered)
end

---@param name string
---@return dapeer.Tool?
function M.find(name)
  return all()[name]
end

---The tools, by name.
---@return dapeer.Tool[]
function M.list()
  local list = {}
  for _, tool in vim.spairs(all()) do
    table.insert(list, tool)
  end
  return list
end

-- What an assistant's tool does counts as running something, unless its author says otherwise.
local function action_of(tool)
  if tool.action ~= nil or tool.group or tool.read_only then
    return tool.action or nil
  end
  return 'run'
end

---What a core needs to serve the tools, as JSON.
---@return string
function M.specs()
  local specs = {}
  for _, tool in ipairs(M.list()) do
    table.insert(specs, {
      name = tool.name,
      title = tool.title,
      description = tool.description,
      input_schema = require('dapeer.schema').of(tool),
      group = tool.group or 'custom',
      read_only = tool.read_only or false,
      destructive = tool.destructive or false,
      idempotent = tool.idempotent or false,
      action = action_of(tool),
      action_when = tool.action_when,
      timeout = tool.timeout or require('dapeer.config').get().bridge.tool_timeout,
    })
  end
  return (assert(require('dapeer.values').encode(specs)))
end

---A core cannot take a tool.
---@param name string
---@param why string  a sentence
function M.refuse(name, why)
  if state.refused[name] ~= why then
    state.refused[name] = why
    warn(('the tool %s is not served: %s'):format(name, why))
  end
end

---What is wrong with tools, a sentence each.
---@return string[]
function M.problems()
  local problems = vim.list_slice(state.problems)
  for name, why in vim.spairs(state.refused) do
    table.insert(problems, ('the tool %s is not served: %s'):format(name, why))
  end
  return problems
end

-- -- calls by Lua

---Run a tool from Lua. What it answers at once comes back as `{ done = true, result = …, error = … }`; else
---`{ pending = true, task_id = … }`, for `get_result` and `cancel_task`.
---@param name string
---@param args? table
---@return table
function M.execute(name, args)
  local tool = M.find(name)
  if not tool then
    return { done = true, error = 'Unknown tool: ' .. name }
  end
  local task = { done = false }
  local id
  task.run = require('dapeer.calls').run(tool, args or {}, {
    progress = function() end,
    done = function(result, err)
      task.done, task.result, task.error = true, result, err
    end,
  })
  if task.done then
    return { done = true, result = task.result, error = task.error }
  end
  state.task = state.task + 1
  id = tostring(state.task)
  state.tasks[id] = task
  return { pending = true, task_id = id, timeout = tool.timeout }
end

---@param task_id string
---@return { done: boolean, result?: any, error?: string }
function M.get_result(task_id)
  local task = state.tasks[task_id]
  if not task then
    return { done = true, error = 'Unknown or expired task: ' .. task_id }
  elseif not task.done then
    return { done = false }
  end
  state.tasks[task_id] = nil
  return { done = true, result = task.result, error = task.error }
end

---@param task_id string
---@return { cancelled: boolean }
function M.cancel_task(task_id)
  local task = state.tasks[task_id]
  state.tasks[task_id] = nil
  if task then
    require('dapeer.calls').cancel(task.run)
  end
  return { cancelled = task ~= nil }
end

return M
