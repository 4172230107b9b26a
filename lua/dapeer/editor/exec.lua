-- Running Lua that an assistant gives: what it returns and prints, and never for long.
local M = {}

local LONGEST = 20000 -- bytes of what is shown
local LIMIT = 2 -- seconds of the main thread
local STEP = 100000 -- instructions after which the clock is looked at

-- What would wait for the person or for time: Neovim would stand still.
local WAITING = {
  'input',
  'inputlist',
  'inputdialog',
  'inputsecret',
  'confirm',
  'getchar',
  'getcharstr',
  'wait',
}

local function cut(text)
  if #text <= LONGEST then
    return text
  end
  local head = require('dapeer.results.fitting').head(text, LONGEST)
  return ('%s… (%d bytes more)'):format(head, #text - #head)
end

local function forbidden(name)
  return function()
    error(('%s would block Neovim; a tool must not wait'):format(name), 2)
  end
end

---@param printed string[]
---@return table  what the code sees as its globals; what it sets is global
local function environment(printed)
  local function print(...)
    local words = {}
    for index = 1, select('#', ...) do
      words[index] = tostring((select(index, ...)))
    end
    table.insert(printed, table.concat(words, '\t'))
  end
  local fn = {}
  for _, name in ipairs(WAITING) do
    fn[name] = forbidden('vim.fn.' .. name)
  end
  local inner = {
    wait = forbidden('vim.wait'),
    fn = setmetatable(fn, { __index = vim.fn }),
    print = function(...)
      for index = 1, select('#', ...) do
        print(vim.inspect((select(index, ...))))
      end
      return ...
    end,
  }
  return setmetatable({
    print = print,
    vim = setmetatable(inner, { __index = vim, __newindex = vim }),
  }, { __index = _G, __newindex = _G })
end

---@param code string
---@return function?
---@return string? problem
local function compiled(code, env)
  -- An expression is the shorter program.
  local run = load('return ' .. code, '=code', 't', env)
  if run then
    return run
  end
  return load(code, '=code', 't', env)
end

-- An endless loop would hold Neovim up for ever. Compiled code calls no hook, so it is not compiled.
local function bounded(run)
  jit.off(run, true)
  local latest = vim.uv.hrtime() + LIMIT * 1e9
  debug.sethook(function()
    if vim.uv.hrtime() > latest then
      error(('it blocked the main thread for more than %d seconds'):format(LIMIT), 0)
    end
  end, '', STEP)
  local results = vim.F.pack_len(xpcall(run, function(problem)
    return type(problem) == 'string' and problem or vim.inspect(problem)
  end))
  debug.sethook(nil, '')
  return results
end

---@return string shown
---@return any data  what JSON can hold of it
local function shown(value)
  local json = require('dapeer.results.values').encode(value)
  local text = type(value) == 'string' and value or vim.inspect(value)
  text = cut(text)
  if json and #json <= LONGEST then
    return text, value == nil and vim.NIL or value
  end
  return text, text
end

---@param code string
---@return dapeer.Result?
---@return string? problem
function M.run(code)
  local printed = {}
  local run, problem = compiled(code, environment(printed))
  if not run then
    return nil, ('The code is not Lua: %s'):format(problem)
  end
  local results = bounded(run)
  local output = cut(table.concat(printed, '\n'))
  if not results[1] then
    local before = output ~= '' and '\nIt had printed:\n' .. output or ''
    return nil, ('The code failed: %s.%s'):format(results[2], before)
  end
  local texts, values = {}, {}
  for index = 2, results.n do
    texts[index - 1], values[index - 1] = shown(results[index])
  end
  local parts = { #texts > 0 and table.concat(texts, '\n') or 'It returned nothing.' }
  if output ~= '' then
    table.insert(parts, 'Printed:\n' .. output)
  end
  local data = { values = values, printed = output }
  return require('dapeer.results').result(table.concat(parts, '\n'), data)
end

return M
