-- Tools for the undo tree.
local FILENAME = { type = 'string', description = 'path or buffer number; default: current' }

return {
  {
    name = 'undo_tree',
    title = 'Read the undo tree',
    description = "List a buffer's undo states, newest first, with times, branches and saves.",
    args = {
      filename = FILENAME,
      start = { type = 'integer', minimum = 0, default = 0 },
      count = { type = 'integer', minimum = 1, maximum = 1000, default = 50 },
    },
    read_only = true,
    execute = function(cb, args)
      cb(require('dapeer.editor.undo').tree(args))
    end,
  },
  {
    name = 'undo_goto',
    title = 'Go to an undo state',
    description = 'Bring a buffer to one of its undo states. The state before stays reachable.',
    args = {
      filename = FILENAME,
      seq = { type = 'integer', minimum = 0, description = 'of nvim_undo_tree; 0: as it was read' },
      earlier = { type = 'string', description = 'such as 3 (changes), 30s, 5m, 2h, 1f (writes)' },
      later = { type = 'string', description = 'like earlier' },
    },
    action = 'write',
    execute = function(cb, args)
      cb(require('dapeer.editor.undo').go(args))
    end,
  },
}
