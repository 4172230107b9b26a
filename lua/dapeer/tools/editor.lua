-- Tools for what is open in Neovim, and for what the person sees of it.
local FILENAME = { type = 'string', description = 'default: current' }
local LINE = { type = 'integer', minimum = 1 }
local START = { type = 'integer', minimum = 0, default = 0 }
local COUNT = { type = 'integer', minimum = 1, maximum = 1000, default = 100 }
local COLUMN = { type = 'integer', minimum = 1, description = 'in characters' }

local ITEM = {
  type = 'object',
  properties = {
    filename = { type = 'string' },
    line = LINE,
    column = LINE,
    end_line = LINE,
    end_column = LINE,
    text = { type = 'string' },
    type = { type = 'string', enum = { 'error', 'warning', 'info', 'note' } },
  },
  additionalProperties = false,
}

return {
  {
    name = 'buffers_list',
    title = 'List open buffers',
    description = 'List the files open in Neovim, last used first: modified, current, visible. A number may be given as filename.',
    args = {
      all = { type = 'boolean', default = false, description = 'unlisted ones too' },
      start = START,
      count = COUNT,
    },
    read_only = true,
    execute = function(cb, args)
      cb(require('dapeer.editor.buffers').list(args))
    end,
  },
  {
    name = 'buffer_read',
    title = 'Read a buffer',
    description = 'Read numbered lines of a file as Neovim has it, unsaved changes included.',
    args = {
      filename = FILENAME,
      line = { type = 'integer', minimum = 1, default = 1 },
      count = { type = 'integer', minimum = 1, maximum = 2000, default = 200 },
      visible = {
        type = 'boolean',
        default = false,
        description = 'what the person has on screen instead, closed folds included',
      },
    },
    read_only = true,
    execute = function(cb, args)
      cb(require('dapeer.editor.buffers').read(args))
    end,
  },
  {
    name = 'buffer_write',
    title = 'Change a buffer',
    description = 'Replace lines `line` to `end_line` by `text`, or `old_text` by it, or without both the whole buffer. The person can undo it as one step.',
    args = {
      filename = FILENAME,
      text = { type = 'string', required = true, description = "'' deletes" },
      line = LINE,
      end_line = {
        type = 'integer',
        minimum = 0,
        description = 'default: line; line - 1 inserts before line',
      },
      old_text = { type = 'string', description = 'must occur once' },
      save = { type = 'boolean', default = false, description = 'write the file, too' },
    },
    destructive = true,
    action = 'write',
    execute = function(cb, args)
      cb(require('dapeer.editor.write').write(args))
    end,
  },
  {
    name = 'cursor_context',
    title = 'See where the person is',
    description = "Return the person's file, cursor, selection and surroundings in their last editing window.",
    args = {
      around = {
        type = 'integer',
        minimum = 0,
        maximum = 200,
        default = 5,
        description = 'lines before and after',
      },
    },
    read_only = true,
    execute = function(cb, args)
      cb(require('dapeer.editor.cursor').context(args))
    end,
  },
  {
    name = 'open_file',
    title = 'Show the person a file',
    description = 'Show a file to the person, at a line, or with a range or text marked.',
    args = {
      filename = FILENAME,
      line = LINE,
      column = COLUMN,
      end_line = LINE,
      end_column = COLUMN,
      text = { type = 'string', description = 'to mark, instead of lines' },
      focus = { type = 'boolean', default = false, description = 'move the cursor there, too' },
    },
    idempotent = true,
    execute = function(cb, args)
      cb(require('dapeer.editor.show').open(args))
    end,
  },
  {
    name = 'quickfix_list',
    title = 'Read the quickfix list',
    description = "List Neovim's quickfix list or a location list: results of searches, compilers.",
    args = {
      location = { type = 'boolean', description = "that of the person's window" },
      filename = { type = 'string', description = 'that of the window with this file' },
      start = START,
      count = COUNT,
    },
    read_only = true,
    execute = function(cb, args)
      cb(require('dapeer.editor.quickfix').list(args))
    end,
  },
  {
    name = 'quickfix_set',
    title = 'Fill the quickfix list',
    description = 'Give the person places to go through, as a new quickfix list.',
    action = 'write',
    args = {
      title = { type = 'string' },
      items = { type = 'array', items = ITEM, required = true, maxItems = 5000 },
      open = { type = 'boolean', default = false, description = 'show its window' },
    },
    execute = function(cb, args)
      cb(require('dapeer.editor.quickfix').set(args))
    end,
  },
}
