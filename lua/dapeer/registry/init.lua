-- The tools that are written in Lua: the built-in ones, those of `setup`, those that are registered.
local M = {}

local FINISHED = 100 -- tasks of Lua whose answers nobody has fetched

---@class dapeer.Registry
---@field registered table<string, dapeer.Tool>
---@field custom table<string, dapeer.Tool>    from `setup{ custom_tools = … }`
---@field removed table<string, boolean>       built-in tools that the person has unregistered
---@field dirty boolean                        the cores have not got the latest change
---@field tasks table<string, table>           calls by Lua, see `execute`
---@field task integer
local state = require('dapeer.kept').part('registry', {
  registered = {},
  custom = {},
  removed = {},
  dirty = false,
  tasks = {},
  task = 0,
})

---The tools have changed: notify every core, once for all changes of one callback.
function M.changed()
  if state.dirty or #require('dapeer.rpc').attached() == 0 then
    return
  end
  state.dirty = true
  vim.schedule(M.flush)
end

---Whether there are changes that the cores have not got.
---@return boolean
function M.is_dirty()
  return state.dirty
end

---Tell the cores of changes now.
function M.flush()
  if state.dirty then
    state.dirty = false
    require('dapeer.rpc').notify('tools', M.specs())
  end
end

---Add a tool; one of the same name is replaced, a built-in one too.
---@param given dapeer.Tool
function M.register(given)
  local tool, problem = require('dapeer.registry.spec').checked(given)
  if not tool then
    error('dapeer: ' .. problem, 0)
  end
  state.registered[tool.name] = tool
  require('dapeer.registry.problems').clear(tool.name)
  M.changed()
end

---@return table<string, dapeer.Tool>
local function built_in()
  return require('dapeer.tools').built_in(function(group, sentence)
    require('dapeer.registry.problems').note('group', group, sentence)
  end)
end

-- Take away one tool: one that has replaced another brings that back.
local function take_away(name)
  for _, own in ipairs({ state.registered, state.custom }) do
    if own[name] then
      own[name] = nil
      return true
    end
  end
  local there = not state.removed[name] and built_in()[name] ~= nil
  state.removed[name] = state.removed[name] or there or nil
  return there
end

---Remove a tool. What it has replaced comes back; a built-in one itself stays away until its group is switched on.
---@param name string
---@return boolean  whether there was one
function M.unregister(name)
  local there = take_away(name)
  if there then
    require('dapeer.registry.problems').clear(name)
    M.changed()
  end
  return there
end

---Bring the tools of groups back that were unregistered.
---@param groups table<string, boolean>  as in `setup{ tools = … }`
function M.restore(groups)
  for group, choice in pairs(groups) do
    for _, tool in ipairs(choice == true and require('dapeer.tools').group(group) or {}) do
      state.removed[tool.name] = nil
    end
  end
end

-- A handler of `custom_tools` returns its result.
---@return dapeer.Tool?
---@return string? problem
local function custom(name, given)
  if type(given) ~= 'table' or type(given.handler) ~= 'function' then
    return nil, ('The tool %s needs handler = function(params).'):format(name)
  end
  local handler = given.handler
  return require('dapeer.registry.spec').checked(vim.tbl_extend('force', given, {
    name = name,
    execute = function(cb, args, ctx)
      cb(handler(args, ctx))
    end,
  }))
end

---Take the tools of `setup{ custom_tools = … }`. One that is wrong is named, and does not take the others along.
---@param tools table<string, { description: string, parameters?: table, handler: function }>
function M.customize(tools)
  local problems = require('dapeer.registry.problems')
  for name in pairs(state.custom) do
    problems.clear(name)
  end
  problems.clear(nil, 'setup')
  state.custom = {}
  local names = vim.tbl_keys(tools)
  table.sort(names, function(one, other)
    return tostring(one) < tostring(other)
  end)
  for _, name in ipairs(names) do
    local tool, problem = custom(name, tools[name])
    if tool then
      state.custom[name] = tool
    else
      problems.note('setup', tostring(name), 'setup: custom_tools: ' .. problem)
    end
  end
  M.changed()
end

---@param name string
---@return dapeer.Tool?
function M.find(name)
  return state.registered[name] or state.custom[name] or (not state.removed[name] and built_in()[name] or nil)
end

---The tools, by name.
---@return dapeer.Tool[]
function M.list()
  local all, list = built_in(), {}
  for name in pairs(state.removed) do
    all[name] = nil
  end
  for _, tool in vim.spairs(vim.tbl_extend('force', all, state.custom, state.registered)) do
    table.insert(list, tool)
  end
  return list
end

---What a core needs to serve the tools, as JSON.
---@return string
function M.specs()
  local timeout = require('dapeer.config').get().bridge.tool_timeout
  local specs = {}
  for _, tool in ipairs(M.list()) do
    local json, problem = require('dapeer.registry.spec').json(tool, timeout)
    table.insert(specs, json)
    if problem then
      require('dapeer.registry.problems').note('core', tool.name, problem)
    end
  end
  return '[' .. table.concat(specs, ',') .. ']'
end

---A core cannot take a tool.
---@param name string
---@param why string  a sentence
function M.refuse(name, why)
  -- It may have gone meanwhile.
  if M.find(name) then
    require('dapeer.registry.problems').note('core', name, ('the tool %s is not served: %s'):format(name, why))
  end
end

---What is wrong with tools, a sentence each.
---@return string[]
function M.problems()
  return require('dapeer.registry.problems').list()
end

-- -- calls by Lua

-- Results that are not fetched are dropped after a while.
local function forget_old()
  local finished = vim.tbl_filter(function(id)
    return state.tasks[id].done
  end, vim.tbl_keys(state.tasks))
  table.sort(finished, function(one, other)
    return tonumber(one) < tonumber(other)
  end)
  for index = 1, #finished - FINISHED do
    state.tasks[finished[index]] = nil
  end
end

---Run a tool from Lua. What it answers at once comes back as `{ done = true, result = …, error = … }`; else
---`{ pending = true, task_id = … }`, for `get_result` and `cancel_task`.
---@param name string
---@param args? table
---@return table
function M.execute(name, args)
  local tool = M.find(name)
  if not tool then
    return { done = true, error = ('Unknown tool: %s'):format(name) }
  end
  local task = { done = false }
  task.run = require('dapeer.registry.calls').run(tool, args or {}, {
    progress = function() end,
    done = function(result, err)
      task.done, task.result, task.error = true, result, err
    end,
  })
  if task.done then
    return { done = true, result = task.result, error = task.error }
  end
  forget_old()
  state.task = state.task + 1
  local id = tostring(state.task)
  state.tasks[id] = task
  return { pending = true, task_id = id, timeout = tool.timeout }
end

---@param task_id string
---@return { done: boolean, result?: any, error?: string }
function M.get_result(task_id)
  local task = state.tasks[task_id]
  if not task then
    return { done = true, error = ('Unknown or expired task: %s'):format(task_id) }
  elseif not task.done then
    return { done = false }
  end
  state.tasks[task_id] = nil
  return { done = true, result = task.result, error = task.error }
end

---@param task_id string
---@return { cancelled: boolean }  false: it had finished, and its answer can still be fetched
function M.cancel_task(task_id)
  local task = state.tasks[task_id]
  if not task or task.done then
    return { cancelled = false }
  end
  state.tasks[task_id] = nil
  require('dapeer.registry.calls').cancel(task.run)
  return { cancelled = true }
end

return M
