-- The arguments of a tool as JSON Schema, and as its handler gets them.
local M = {}

-- Keywords whose value is a table of schemas by name. Lua's `{}` would become a list.
local BY_NAME = { 'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas' }

-- How mcp-tools.nvim called arguments of its tools.
local OLDER = { bufnr = 'filename', col = 'column' }

local from_args

-- `required = true` on an argument is how mcp-tools.nvim says it; JSON Schema has a list of names. What has a
-- default is never missing.
---@param properties table<string, table>
---@return table<string, table> schemas
---@return string[] required
local function without_flags(properties)
  local schemas, required = vim.empty_dict(), {}
  for name, argument in pairs(properties) do
    local schema = from_args(argument)
    if argument.required == true and argument.default == nil then
      table.insert(required, name)
    end
    if type(argument.required) == 'boolean' then
      schema.required = nil
    end
    schemas[name] = schema
  end
  table.sort(required)
  return schemas, required
end

---@param argument table
---@return table
function from_args(argument)
  local schema = vim.tbl_extend('force', {}, argument)
  if type(schema.items) == 'table' then
    schema.items = from_args(schema.items)
  end
  if type(schema.properties) == 'table' then
    local required
    schema.properties, required = without_flags(schema.properties)
    if #required > 0 then
      schema.required = required
    end
  end
  return schema
end

---@param schema table
local function is_object(schema)
  local kinds = type(schema.type) == 'table' and schema.type or { schema.type }
  return vim.tbl_contains(kinds, 'object') and not vim.tbl_contains(kinds, 'array')
end

-- Keys under which `{}` is a dictionary; so is the default of an object.
local function is_dictionary(key, schema)
  return key == 'items' or key == 'additionalProperties' or key == 'not' or (key == 'default' and is_object(schema))
end

-- `{}` where a schema, or schemas by name, are meant.
local function as_dictionaries(schema)
  local result = vim.tbl_extend('force', vim.empty_dict(), schema)
  for key, value in pairs(schema) do
    if type(value) == 'table' then
      if vim.tbl_contains(BY_NAME, key) then
        result[key] = next(value)
            and vim.tbl_map(function(inner)
              return type(inner) == 'table' and as_dictionaries(inner) or inner
            end, value)
          or vim.empty_dict()
      elseif vim.islist(value) and next(value) then
        result[key] = vim.tbl_map(function(inner)
          return type(inner) == 'table' and not vim.islist(inner) and as_dictionaries(inner) or inner
        end, value)
      elseif next(value) or is_dictionary(key, schema) then
        result[key] = as_dictionaries(value)
      end
    end
  end
  return result
end

---Return the JSON Schema of a tool's arguments.
---@param tool dapeer.Tool
---@return table
function M.of(tool)
  if tool.parameters then
    local schema = as_dictionaries(tool.parameters)
    schema.type = schema.type or 'object'
    schema.properties = schema.properties or vim.empty_dict()
    return schema
  end
  local properties, required = without_flags(tool.args or {})
  local schema = { type = 'object', properties = properties, additionalProperties = false }
  if #required > 0 then
    schema.required = required
  end
  return as_dictionaries(schema)
end

-- A null that is allowed comes as nil.
local function may_be_null(schema)
  return type(schema) == 'table' and type(schema.type) == 'table' and vim.tbl_contains(schema.type, 'null')
end

---The arguments of a built-in tool that it also takes by an older name.
---@param tool dapeer.Tool
---@return table<string, string>?  the names now, by the older ones; nil: none
function M.older(tool)
  local found = {}
  for older, name in pairs(tool.group and tool.args and OLDER or {}) do
    found[older] = tool.args[name] and not tool.args[older] and name or nil
  end
  return next(found) and found or nil
end

-- What Lua has given by older names; a core has renamed its own.
---@param tool dapeer.Tool
---@param arguments table
local function rename(tool, arguments)
  for older, name in pairs(M.older(tool) or {}) do
    if arguments[name] == nil then
      local value = arguments[older]
      arguments[name], arguments[older] = older == 'bufnr' and value and tostring(value) or value, nil
    end
  end
end

---Return the arguments with what was left out at its default.
---@param tool dapeer.Tool
---@param given table
---@return table? arguments
---@return string? problem
function M.complete(tool, given)
  local schema = M.of(tool)
  local arguments = vim.tbl_extend('force', vim.empty_dict(), given)
  rename(tool, arguments)
  for name, property in pairs(schema.properties) do
    if arguments[name] == nil and type(property) == 'table' and property.default ~= nil then
      arguments[name] = vim.deepcopy(property.default)
    end
  end
  for _, name in ipairs(schema.required or {}) do
    if arguments[name] == nil and not may_be_null(schema.properties[name]) then
      return nil, ('Argument `%s` is required.'):format(name)
    end
  end
  return arguments
end

return M
