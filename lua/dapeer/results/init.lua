-- Results of tools, in the form that MCP gives them. A tool may as well hand over a plain value.
local M = {}

---@class dapeer.Result  MCP's CallToolResult
---@field content table[]
---@field structuredContent? table
---@field isError? boolean

local function as_text(value)
  if type(value) == 'table' then
    return vim.inspect(value)
  end
  return value == nil and '' or tostring(value)
end

---@param text any  what is no text is made one
---@return dapeer.Result
function M.text(text)
  return { content = { { type = 'text', text = as_text(text) } } }
end

---@param data any  any JSON value
---@return dapeer.Result
function M.json(data)
  local json, problem = require('dapeer.results.values').encode(data, 'data')
  if not json then
    error(('The result cannot be sent: %s.'):format(problem), 2)
  end
  local result = M.text(json)
  if vim.startswith(json, '{') then
    result.structuredContent = data
  end
  return result
end

M.success = M.json

---@param code any
---@param message? any  default: a sentence with the code
---@param data? any
---@return dapeer.Result
function M.error(code, message, data)
  local text = as_text(message)
  if text == '' then
    text = code == nil and 'The tool failed.' or ('The tool failed: %s.'):format(as_text(code))
  end
  local result = M.text(text)
  result.isError = true
  result._meta = { error = { code = code, message = text, data = data } }
  return result
end

---@param base64 string  the image's bytes
---@param mime? string   default image/png
---@return dapeer.Result
function M.image(base64, mime)
  return { content = { { type = 'image', data = base64, mimeType = mime or 'image/png' } } }
end

---Text for a model, and the same facts as data for a program.
---@param text any
---@param data table
---@return dapeer.Result
function M.result(text, data)
  local result = M.text(text)
  result.structuredContent = data
  return result
end

return M
