-- Lua values as JSON: what JSON cannot hold is named by its place, and never sent half.
local M = {}

local DEEPEST = 100
local MOST = 500000 -- values in one; a million takes a second of the main thread

---@class dapeer.Walk
---@field above table<table, boolean>  the tables that hold this value
---@field depth integer
---@field count integer

local copy

local function fail(where, what)
  error({ ('%s %s'):format(where == '' and 'the value' or where:gsub('^%.', ''), what) }, 0)
end

-- A list has the keys 1 to n, and no others. A table of numbered things with gaps, such as one by buffer
-- number, is an object: as a list it would be mostly null, and as long as its largest key.
---@param given table
---@param where string
---@return 'list'|'object'
local function shape(given, where)
  local count, largest, named = 0, 0, false
  for key in next, given do
    if type(key) == 'number' and key % 1 == 0 and key > 0 then
      count, largest = count + 1, math.max(largest, key)
    elseif type(key) == 'string' then
      named = true
    else
      fail(where, ('has a key that is a %s'):format(type(key)))
    end
  end
  if named and count > 0 then
    fail(where, 'mixes list items with named fields')
  end
  return (named or count < largest) and 'object' or 'list'
end

---@param walk dapeer.Walk
local function copied_table(given, where, walk)
  if walk.above[given] then
    fail(where, 'holds itself')
  elseif walk.depth >= DEEPEST then
    fail(where, ('is nested deeper than %d levels'):format(DEEPEST))
  elseif next(given) == nil then
    return given -- an empty dictionary of Neovim's is marked as one
  end
  walk.above[given], walk.depth = true, walk.depth + 1
  local object = shape(given, where) == 'object'
  local result = {}
  for key, value in next, given do
    if object then
      result[tostring(key)] = copy(value, where .. '.' .. tostring(key), walk)
    else
      result[key] = copy(value, ('%s[%d]'):format(where, key), walk)
    end
  end
  walk.above[given], walk.depth = nil, walk.depth - 1
  return result
end

function copy(value, where, walk)
  walk.count = walk.count + 1
  if walk.count > MOST then
    fail('', ('holds more than %d values'):format(MOST))
  end
  local kind = type(value)
  if kind == 'table' then
    return copied_table(value, where, walk)
  elseif kind == 'number' and (value ~= value or value == math.huge or value == -math.huge) then
    fail(where, ('is %s, which JSON has not'):format(value))
  elseif kind == 'string' or kind == 'number' or kind == 'boolean' or value == vim.NIL then
    return value
  end
  fail(where, 'is a ' .. kind)
end

---Return a value as JSON. Legal in a luv callback. Bytes that are not UTF-8 pass: the core finds them.
---@param value any
---@param name? string  what the value is called when something is wrong in it
---@return string? json
---@return string? problem  such as `result.items[3] is a function`
function M.encode(value, name)
  if value == nil then
    value = vim.NIL
  end
  local walk = { above = {}, depth = 0, count = 0 }
  local ok, result = pcall(copy, value, name or '', walk)
  if ok then
    return vim.json.encode(result)
  end
  return nil, type(result) == 'table' and result[1] or tostring(result)
end

return M
