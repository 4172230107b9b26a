-- What language servers know of the code, and what they can change in it.

-- Runs `function_name(args, ctx)` of a module as a task; the module is loaded only then.
local function task(module, function_name, ...)
  local more = { ... }
  return function(cb, args, ctx)
    require('dapeer.lsp.task').run(cb, function()
      return require('dapeer.lsp.' .. module)[function_name](args, ctx, unpack(more))
    end)
  end
end

local FILENAME = { type = 'string', description = 'default: current' }
local TIMEOUT = { type = 'integer', minimum = 1 }

-- Arguments that several tools have in common, and its own.
---@param ... table<string, dapeer.Arg>
---@return table<string, dapeer.Arg>
local function args(...)
  return vim.tbl_extend('force', { timeout_ms = TIMEOUT }, ...)
end

local FILE = { filename = FILENAME }
local PLACE = {
  filename = FILENAME,
  line = { type = 'integer', minimum = 1 },
  column = { type = 'integer', minimum = 1, description = 'in characters' },
  symbol = {
    type = 'string',
    description = 'text on the line, instead of column',
  },
}
local PAGE = {
  count = { type = 'integer', minimum = 1, maximum = 1000, default = 100 },
  start = { type = 'integer', minimum = 0, default = 0 },
}
local APPLY = {
  apply = { type = 'boolean', description = 'do it; default: only show the edits' },
  save = {
    type = 'boolean',
    default = true,
    description = 'write the files that had no unsaved changes',
  },
}

---@param name string
---@param title string
---@param description string
---@param method string
---@param noun string
---@param more? table
local function locating(name, title, description, method, noun, more)
  return {
    name = name,
    title = title,
    description = description,
    read_only = true,
    args = args(PLACE, PAGE),
    execute = task('locations', 'find', method, noun, more),
  }
end

local references = locating(
  'lsp_references',
  'References',
  'List where the thing at a place is used, in the whole workspace, with the source lines.',
  'textDocument/references',
  'references'
)
references.args.include_declaration = { type = 'boolean', default = true }
references.execute = function(cb, given, ctx)
  local context = { context = { includeDeclaration = given.include_declaration ~= false } }
  task('locations', 'find', 'textDocument/references', 'references', context)(cb, given, ctx)
end

return {
  {
    name = 'lsp_clients',
    title = 'Language servers',
    description = 'List the language servers: state, root, files, what they offer.',
    read_only = true,
    args = {},
    execute = task('clients', 'list'),
  },
  {
    name = 'lsp_hover',
    title = 'Hover',
    description = 'Show type, signature and documentation of the thing at a place.',
    read_only = true,
    args = args(PLACE),
    execute = task('hover', 'hover'),
  },
  {
    name = 'lsp_symbols',
    title = 'Symbols of a file',
    description = 'Outline a file: its classes, functions and variables, nested, with their lines.',
    read_only = true,
    args = args(FILE, PAGE, {
      depth = { type = 'integer', minimum = 1, description = '1: top level only' },
    }),
    execute = task('symbols', 'of_file'),
  },
  {
    name = 'lsp_workspace_symbols',
    title = 'Symbols of the workspace',
    description = 'Find where classes, functions and variables are defined, by a part of their name.',
    read_only = true,
    args = args(PAGE, { query = { type = 'string', required = true } }),
    execute = task('symbols', 'of_workspace'),
  },
  locating(
    'lsp_definition',
    'Definition',
    'Find where the thing at a place is defined.',
    'textDocument/definition',
    'definitions'
  ),
  locating(
    'lsp_type_definition',
    'Type definition',
    'Find where the type of the thing at a place is defined.',
    'textDocument/typeDefinition',
    'type definitions'
  ),
  locating(
    'lsp_implementation',
    'Implementations',
    'Find what implements the interface or abstract method at a place.',
    'textDocument/implementation',
    'implementations'
  ),
  references,
  {
    name = 'lsp_call_hierarchy',
    title = 'Callers and callees',
    description = 'List who calls the function at a place, or whom it calls.',
    read_only = true,
    args = args(PLACE, PAGE, {
      direction = { type = 'string', enum = { 'incoming', 'outgoing' }, default = 'incoming' },
    }),
    execute = task('hierarchy', 'calls'),
  },
  {
    name = 'lsp_code_actions',
    title = 'Code actions',
    description = 'List fixes and refactorings for a place, some lines, or (without line) the file.'
      .. ' With `action`: show what one changes; with apply=true too: do it.',
    -- Its command is the server's: it may run something.
    action = { 'write', 'run' },
    action_when = 'apply',
    args = args(PLACE, PAGE, APPLY, {
      end_line = { type = 'integer', minimum = 1 },
      kind = { type = 'string', description = 'such as quickfix, source.organizeImports' },
      action = { type = { 'integer', 'string' }, description = 'number or title' },
    }),
    execute = task('actions', 'actions'),
  },
  {
    name = 'lsp_rename',
    title = 'Rename',
    description = 'Rename the thing at a place everywhere. Shows the edits; with apply=true makes them,'
      .. ' and undo takes them back.',
    action = 'write',
    action_when = 'apply',
    args = args(PLACE, APPLY, { new_name = { type = 'string', required = true } }),
    execute = task('rename', 'rename'),
  },
  {
    name = 'lsp_format',
    title = 'Format',
    description = "Format a file or some of its lines with its language server's formatter."
      .. ' Shows the edits; with apply=true makes them.',
    action = 'write',
    action_when = 'apply',
    args = args(FILE, APPLY, {
      line = { type = 'integer', minimum = 1 },
      end_line = { type = 'integer', minimum = 1 },
      client = { type = 'string', description = 'the server; default: the first that formats' },
    }),
    execute = task('format', 'format'),
  },
}
