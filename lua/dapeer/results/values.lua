-- Lua values as JSON: what JSON cannot hold is named by its place, and never sent half.
local M = {}

local DEEPEST = 100
local MOST = 500000 -- values in one: about a fifth of a second of the main thread
-- An RPC message that is too long for the other side ends the connection.
local LARGEST = 32 * 1024 * 1024
local TOO_LARGE = 'is larger than 32 MB'
local LONGEST_PLACE = 100

---@class dapeer.Walk
---@field name string
---@field keys any[]                   the way to this value; a text only when something is wrong with it
---@field depth integer
---@field above table<table, boolean>  the tables that hold this value
---@field count integer
---@field bytes integer                of the strings

local copy

---@param walk dapeer.Walk
---@return string
local function place(walk)
  local parts = { walk.name }
  for depth = 1, walk.depth do
    local key = walk.keys[depth]
    table.insert(parts, type(key) == 'string' and '.' .. key or ('[%s]'):format(key))
  end
  local text = table.concat(parts):gsub('^%.', '')
  if #text > LONGEST_PLACE then
    local half = LONGEST_PLACE / 2
    return require('dapeer.results.fitting').head(text, half) .. '…' .. text:sub(-half):gsub('^[\128-\191]+', '')
  end
  return text == '' and 'the value' or text
end

---@param walk dapeer.Walk
local function fail(walk, what)
  error({ place(walk) .. ' ' .. what }, 0)
end

-- A list has the keys 1 to n, and no others. A table of numbered things with gaps, such as one by buffer
-- number, is an object: as a list it would be mostly null, and as long as its largest key.
---@param given table
---@param walk dapeer.Walk
---@return boolean
local function is_object(given, walk)
  local count, largest, named = 0, 0, false
  for key in next, given do
    local kind = type(key)
    if kind == 'number' and key % 1 == 0 and key > 0 then
      count, largest = count + 1, math.max(largest, key)
    elseif kind == 'string' then
      named = true
    elseif kind == 'number' then
      fail(walk, ('has the key %s: lists begin at 1, and names are strings'):format(key))
    else
      fail(walk, ('has a key that is a %s'):format(kind))
    end
  end
  if named and count > 0 then
    fail(walk, 'mixes list items with named fields')
  end
  return named or count < largest
end

---@param walk dapeer.Walk
local function copied_table(given, walk)
  if walk.above[given] then
    fail(walk, 'contains itself')
  elseif walk.depth >= DEEPEST then
    fail(walk, ('is nested deeper than %d levels'):format(DEEPEST))
  elseif next(given) == nil then
    return given -- an empty dictionary of Neovim's is marked as one
  end
  local object, result = is_object(given, walk), {}
  local depth, keys = walk.depth + 1, walk.keys
  walk.above[given], walk.depth = true, depth
  for key, value in next, given do
    keys[depth] = key
    result[object and tostring(key) or key] = copy(value, walk)
  end
  walk.above[given], walk.depth = nil, depth - 1
  return result
end

---@param walk dapeer.Walk
local function too_much(walk, what)
  walk.depth = 0
  fail(walk, what)
end

---@param walk dapeer.Walk
function copy(value, walk)
  walk.count = walk.count + 1
  if walk.count > MOST then
    too_much(walk, ('holds more than %d values'):format(MOST))
  end
  local kind = type(value)
  if kind == 'string' then
    walk.bytes = walk.bytes + #value
    if walk.bytes > LARGEST then
      too_much(walk, TOO_LARGE)
    end
    return value
  elseif kind == 'table' then
    return copied_table(value, walk)
  elseif kind == 'number' and (value ~= value or value == math.huge or value == -math.huge) then
    fail(walk, ('is %s, which JSON cannot hold'):format(value))
  elseif kind == 'number' or kind == 'boolean' or value == vim.NIL then
    return value
  end
  fail(walk, 'is a ' .. kind)
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
  local walk = { name = name or '', keys = {}, above = {}, depth = 0, count = 0, bytes = 0 }
  local ok, result = pcall(function()
    local json = vim.json.encode(copy(value, walk))
    -- Names and what had to be escaped count, too.
    if #json > LARGEST then
      too_much(walk, TOO_LARGE)
    end
    return json
  end)
  if ok then
    return result
  end
  return nil, type(result) == 'table' and result[1] or tostring(result)
end

---Whether bytes are UTF-8.
---@param bytes string
---@return boolean
function M.is_text(bytes)
  local lpeg = vim.lpeg
  local R, more = lpeg.R, lpeg.R('\128\191')
  -- Neither a longer form of a shorter one, nor half a UTF-16 pair, nor beyond Unicode.
  local no_three = lpeg.P('\224') * R('\128\159') + lpeg.P('\237') * R('\160\191')
  local no_four = lpeg.P('\240') * R('\128\143') + lpeg.P('\244') * R('\144\191')
  local character = R('\0\127')
    + R('\194\223') * more
    + (R('\224\239') - no_three) * more * more
    + (R('\240\244') - no_four) * more * more * more
  return lpeg.match(character ^ 0 * -1, bytes) ~= nil
end

return M
