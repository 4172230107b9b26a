-- The tools that the MCP conformance suite calls, registered as anybody registers a tool.
local dapeer = require('dapeer')
local MCP = require('dapeer').MCP

-- One red pixel, and a sound of no length.
local PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
local SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

---@param uri string
---@param mime string
---@param text string
---@return table  a content block
local function resource(uri, mime, text)
  return { type = 'resource', resource = { uri = uri, mimeType = mime, text = text } }
end

dapeer.register({
  name = 'test_simple_text',
  description = 'Return a text.',
  read_only = true,
  execute = function(cb)
    cb('This is a simple text response for testing.')
  end,
})

dapeer.register({
  name = 'test_image_content',
  description = 'Return an image.',
  read_only = true,
  execute = function(cb)
    cb(MCP.image(PIXEL, 'image/png'))
  end,
})

dapeer.register({
  name = 'test_audio_content',
  description = 'Return a sound.',
  read_only = true,
  execute = function(cb)
    cb({ type = 'audio', data = SILENCE, mimeType = 'audio/wav' })
  end,
})

dapeer.register({
  name = 'test_embedded_resource',
  description = 'Return a resource.',
  read_only = true,
  execute = function(cb)
    cb(resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'))
  end,
})

dapeer.register({
  name = 'test_multiple_content_types',
  description = 'Return a text, an image and a resource.',
  read_only = true,
  execute = function(cb)
    cb({
      content = {
        { type = 'text', text = 'Multiple content types test:' },
        { type = 'image', data = PIXEL, mimeType = 'image/png' },
        resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      },
    })
  end,
})

dapeer.register({
  name = 'test_error_handling',
  description = 'Fail.',
  read_only = true,
  execute = function()
    error('This tool intentionally returns an error for testing', 0)
  end,
})

-- The suite counts what arrives: all three. A core passes on ten a second, of more only the newest.
local BETWEEN = 400 -- milliseconds

dapeer.register({
  name = 'test_tool_with_progress',
  description = 'Tell how far it is, three times.',
  read_only = true,
  execute = function(cb, _, ctx)
    local function tell(done)
      ctx.progress(done, 100)
      if done == 100 then
        return cb('The tool has told its progress.')
      end
      vim.defer_fn(function()
        tell(done + 50)
      end, BETWEEN)
    end
    tell(0)
  end,
})

dapeer.register({
  name = 'test_trigger_tool_change',
  description = 'Add a tool, or take it away again.',
  execute = function(cb)
    local there = dapeer.unregister('test_dynamic_tool')
    if not there then
      dapeer.register({
        name = 'test_dynamic_tool',
        description = 'Come and go.',
        execute = function(answer)
          answer('It is there.')
        end,
      })
    end
    cb(there and 'The tool is gone.' or 'The tool is there.')
  end,
})

dapeer.register({
  name = 'json_schema_2020_12_tool',
  description = 'Tool with JSON Schema 2020-12 features',
  parameters = {
    ['$schema'] = 'https://json-schema.org/draft/2020-12/schema',
    type = 'object',
    ['$defs'] = {
      address = {
        ['$anchor'] = 'addressDef',
        type = 'object',
        properties = { street = { type = 'string' }, city = { type = 'string' } },
      },
    },
    properties = {
      name = { type = 'string' },
      address = { ['$ref'] = '#/$defs/address' },
      contactMethod = { type = 'string', enum = { 'phone', 'email' } },
      phone = { type = 'string' },
      email = { type = 'string' },
    },
    allOf = { { anyOf = { { required = { 'phone' } }, { required = { 'email' } } } } },
    ['if'] = { properties = { contactMethod = { const = 'phone' } }, required = { 'contactMethod' } },
    ['then'] = { required = { 'phone' } },
    ['else'] = { required = { 'email' } },
    additionalProperties = false,
  },
  execute = function(cb, args)
    cb(args)
  end,
})

dapeer.register({
  name = 'test_x_mcp_header',
  description = 'Return a region, of which the header Mcp-Param-Region tells as well.',
  args = { region = { type = 'string', ['x-mcp-header'] = 'Region' } },
  execute = function(cb, args)
    cb(args.region)
  end,
})
