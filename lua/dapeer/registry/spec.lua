-- One tool: the fields that its author gives, and its description for a core. Each tool is checked by itself, so
-- that an invalid one does not affect others.
local M = {}

local LONGEST_NAME = 40
local LARGEST = 1024 * 1024 -- bytes of what a core is told of one

---@param most integer
local function text(most)
  return function(value)
    return type(value) == 'string' and #value <= most and require('dapeer.results.values').is_text(value)
  end
end

local function flag(value)
  return type(value) == 'boolean'
end

---@type { [1]: string, [2]: (fun(value: any): boolean), [3]: string }[]  field, check, what it must be
local FIELDS = {
  { 'description', text(10000), 'text in UTF-8, at most 10000 bytes' },
  { 'title', text(200), 'text in UTF-8, at most 200 bytes' },
  {
    'timeout',
    function(value)
      return type(value) == 'number' and value >= 0 and value < math.huge
    end,
    'milliseconds, 0 for none',
  },
  {
    'action',
    function(value)
      local kinds = type(value) == 'table' and value or { value }
      return value == false
        or vim.islist(kinds)
          and #kinds > 0
          and vim.iter(kinds):all(function(kind)
            return vim.tbl_contains({ 'run', 'evaluate', 'write', 'read' }, kind)
          end)
    end,
    "'run', 'evaluate', 'write', 'read', a list of these, or false",
  },
  { 'action_when', text(200), 'the name of an argument' },
  { 'read_only', flag, 'true or false' },
  { 'destructive', flag, 'true or false' },
  { 'idempotent', flag, 'true or false' },
}

---@param tool any
---@return string?  what is wrong with it, as a sentence
local function flaw(tool)
  if type(tool) ~= 'table' then
    return 'A tool is a table with name, description and execute.'
  end
  local name = tool.name
  if type(name) ~= 'string' or not name:match('^[%w_-]+$') or #name > LONGEST_NAME then
    local given = require('dapeer.results.fitting').head(vim.inspect(name), 100)
    return ("A tool's name is 1 to %d letters, digits, _ or -; this one is %s."):format(LONGEST_NAME, given)
  elseif type(tool.description) ~= 'string' or tool.description == '' then
    return ('The tool %s needs a description: it is all that the assistant knows of it.'):format(name)
  elseif type(tool.execute) ~= 'function' then
    return ('The tool %s needs execute = function(cb, args, ctx).'):format(name)
  end
  for _, field in ipairs(FIELDS) do
    if tool[field[1]] ~= nil and not field[2](tool[field[1]]) then
      return ('The %s of the tool %s must be %s.'):format(field[1], name, field[3])
    end
  end
end

local function is_schema(argument)
  return type(argument) == 'table' and (next(argument) == nil or not vim.islist(argument))
end

local function are_schemas(properties)
  return is_schema(properties) and vim.iter(properties):all(function(_, argument)
    return is_schema(argument)
  end)
end

local function are_names(required)
  return type(required) == 'table'
    and vim.islist(required)
    and vim.iter(required):all(function(name)
      return type(name) == 'string'
    end)
end

---@param tool dapeer.Tool
---@return string?
local function flaw_of_arguments(tool)
  local parameters = tool.parameters
  if parameters ~= nil then
    if not is_schema(parameters) then
      return ('The parameters of the tool %s are a JSON Schema: a table.'):format(tool.name)
    elseif parameters.required ~= nil and not are_names(parameters.required) then
      return ('`required` in the parameters of the tool %s is a list of names.'):format(tool.name)
    elseif parameters.properties ~= nil and not is_schema(parameters.properties) then
      return ('`properties` in the parameters of the tool %s are a table of schemas.'):format(tool.name)
    end
  elseif tool.args ~= nil and not are_schemas(tool.args) then
    return ('The args of the tool %s are a table of name = { type = … }.'):format(tool.name)
  end
  -- Also what holds itself: it would never be a schema.
  local json, problem = require('dapeer.results.values').encode(parameters or tool.args, 'its schema')
  return not json and ('The arguments of the tool %s: %s.'):format(tool.name, problem) or nil
end

-- A person's tool may do anything, unless its author says what.
local function action_of(tool)
  if tool.action ~= nil or tool.group or tool.read_only then
    return tool.action or nil
  end
  return { 'run', 'evaluate', 'write' }
end

---@param tool dapeer.Tool
---@return string? json
---@return string? problem
local function encoded(tool)
  local ok, schema = pcall(require('dapeer.registry.schema').of, tool)
  if not ok then
    return nil, ('its schema is invalid: %s'):format(schema)
  end
  -- Else it would never count as an action.
  if tool.action_when ~= nil and schema.properties[tool.action_when] == nil then
    return nil, ('its action_when, %s, is not one of its arguments'):format(tool.action_when)
  end
  local values = require('dapeer.results.values')
  local json, problem = values.encode({
    name = tool.name,
    title = tool.title,
    description = tool.description,
    input_schema = schema,
    older = require('dapeer.registry.schema').older(tool),
    group = tool.group or 'custom',
    read_only = tool.read_only or false,
    destructive = tool.destructive or false,
    idempotent = tool.idempotent or false,
    action = action_of(tool),
    action_when = tool.action_when,
    timeout = tool.timeout,
  }, 'it')
  if not json then
    return nil, problem
  elseif #json > LARGEST then
    return nil, ('it is larger than %d bytes with its schema'):format(LARGEST)
  elseif not values.is_text(json) then
    return nil, 'its schema holds bytes that are not UTF-8'
  end
  return json
end

---@type table<dapeer.Tool, string>  a registered tool never changes
local known = setmetatable({}, { __mode = 'k' })

---The description of a tool for a core, as JSON.
---@param tool dapeer.Tool
---@param timeout integer  if the tool has none
---@return string? json
---@return string? problem
function M.json(tool, timeout)
  local problem
  if not known[tool] then
    known[tool], problem = encoded(tool)
  end
  if not known[tool] then
    return nil, ('The tool %s cannot be served: %s.'):format(tool.name, problem)
  elseif tool.timeout ~= nil then
    return known[tool]
  end
  return ('{"timeout":%s,%s'):format(vim.json.encode(timeout), known[tool]:sub(2))
end

---A copy of a tool of the person's that can be served: what its author does with theirs afterwards is no matter.
---@param given any
---@return dapeer.Tool? tool
---@return string? problem  a sentence
function M.checked(given)
  local problem = flaw(given) or flaw_of_arguments(given)
  if problem then
    return nil, problem
  end
  local tool = vim.tbl_extend('force', {}, given) ---@type dapeer.Tool
  -- Only built-in tools are in one: their schemas are known to be right.
  tool.group = nil
  tool.args, tool.parameters = vim.deepcopy(given.args), vim.deepcopy(given.parameters)
  local json
  json, problem = M.json(tool, 0)
  return json and tool, problem
end

return M
