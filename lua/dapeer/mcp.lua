-- Results of tools, in the form that MCP gives them. A tool may as well hand over a plain value.
local M = {}

---@class dapeer.Result  MCP's CallToolResult
---@field content table[]
---@field structuredContent? table
---@field isError? boolean

---@param text string
---@return dapeer.Result
function M.text(text)
  return { content = { { type = 'text', text = text } } }
end

---@param data any  whatever JSON can hold
---@return dapeer.Result
function M.json(data)
  local json, problem = require('dapeer.values').encode(data, 'data')
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
---@param message string
---@param data? any
---@return dapeer.Result
function M.error(code, message, data)
  return {
    content = { { type = 'text', text = message } },
    isError = true,
    _meta = { error = { code = code, message = message, data = data } },
  }
end

---@param base64 string  the image's bytes
---@param mime? string   default image/png
---@return dapeer.Result
function M.image(base64, mime)
  return { content = { { type = 'image', data = base64, mimeType = mime or 'image/png' } } }
end

---Text for a model, and the same facts as data for a program.
---@param text string
---@param data table
---@return dapeer.Result
function M.result(text, data)
  return { content = { { type = 'text', text = text } }, structuredContent = data }
end

return M
