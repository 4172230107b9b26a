-- Tools of a person, registered as the help says: good ones, and each way to be bad.
local dapeer = require('dapeer')

local function tool(name, execute, more)
  dapeer.register(
    vim.tbl_extend('force', { name = name, description = 'Try ' .. name .. '.', execute = execute }, more or {})
  )
end

---What has happened to calls, for the test to read.
local M = { log = {}, late = {} }

tool('add', function(cb, args, ctx)
  cb({ sum = args.a + args.b, client = ctx.caller.client })
end, {
  read_only = true,
  args = {
    a = { type = 'integer', required = true },
    b = { type = 'integer', default = 1, description = 'added' },
  },
})

tool('echo', function(cb, args)
  cb(args)
end, {
  read_only = true,
  parameters = {
    type = 'object',
    properties = {
      mode = { enum = { 'fast', 'slow' } },
      deep = { type = 'object', properties = { at = { type = 'array', items = { type = 'number', minimum = 0 } } } },
      anything = {},
    },
  },
})

-- What a handler may call back with, by name.
local recursive = {}
recursive.self = { recursive }
local RESULTS = {
  text = 'plain',
  number = 3.5,
  no = false,
  list = { 1, { a = vim.NIL } },
  object = { empty = vim.empty_dict(), list = {} },
  numbered = { [7] = 'seven', [2000000] = 'many' },
  mixed = { rows = { 1, 2, name = 'x' } },
  recursive = recursive,
  ['function'] = { rows = { { run = print } } },
  nan = { 0 / 0 },
  bytes = { name = { '\255\254' } },
  image = dapeer.MCP.image('aGVsbG8=', 'image/png'),
  block = { type = 'text', text = 'a block' },
  blocks = { content = { { type = 'text', text = 'one' }, { type = 'image', data = 'aGk=', mimeType = 'image/gif' } } },
  both = dapeer.MCP.result('two rows', { rows = 2 }),
  seen = {
    content = { { type = 'image', data = 'aGVsbG8=', mimeType = 'image/png' } },
    structuredContent = { rows = 2 },
  },
  failed = dapeer.MCP.error(404, 'not here', { id = 1 }),
  large = ('x'):rep(5 * 1024 * 1024),
}

tool('give', function(cb, args)
  cb(RESULTS[args.what])
end, { args = { what = { type = 'string', required = true } } })

tool('throw', function()
  error({ code = 3 })
end)

tool('refuse', function(cb)
  cb(nil, 'The kettle is empty. Fill it.')
end)

tool('twice', function(cb)
  cb('first')
  cb('second')
end)

-- Waits until it is cancelled, or `M.finish` is called.
tool('wait', function(cb, _, ctx)
  ctx.progress(1, 2, 'waiting')
  M.finish = cb
  ctx.on_cancel(function()
    table.insert(M.log, ctx.cancelled() and 'cancelled' or 'not cancelled')
    cb('too late')
    vim.rpcnotify(vim.g.test_channel, 'cancelled')
  end)
  vim.rpcnotify(vim.g.test_channel, 'waiting')
end, { timeout = 0 })

tool('slow', function(_, _, ctx)
  ctx.on_cancel(function()
    table.insert(M.log, 'timed out')
    vim.rpcnotify(vim.g.test_channel, 'cancelled')
  end)
end, { timeout = 50 })

tool('tidy', function(cb, args)
  cb(args.apply and 'tidied' or 'would tidy')
end, { action = 'write', action_when = 'apply', args = { apply = { type = 'boolean' } } })

tool('where', function(cb, args)
  cb({ cwd = vim.fn.getcwd(), args = args })
end, { read_only = true })

tool('dial', function(cb, args)
  cb('dialled ' .. args.connection_id)
end, { read_only = true, args = { connection_id = { type = 'string' } } })

return M
