-- Open files: saving them, and what is selected.
local FILENAME = { filename = { type = 'string' } }

return {
  {
    name = 'check_document_dirty',
    title = 'Unsaved changes?',
    description = 'Return whether an open file has unsaved changes in Neovim.',
    args = FILENAME,
    read_only = true,
    execute = function(cb, args)
      require('dapeer.documents').check_dirty(cb, args.filename)
    end,
  },
  {
    name = 'save_document',
    title = 'Save a file',
    description = 'Write the unsaved changes of an open file to the disk. Refused when the file has changed there meanwhile.',
    args = FILENAME,
    idempotent = true,
    action = 'write',
    execute = function(cb, args)
      require('dapeer.documents').save(cb, args.filename)
    end,
  },
  {
    name = 'get_selection',
    title = 'What is selected',
    description = "Return the text that the person has selected, or had last in this file. The data has LSP's 0-based positions.",
    args = FILENAME,
    read_only = true,
    execute = function(cb, args)
      require('dapeer.documents.selection').get(cb, args.filename)
    end,
  },
  {
    name = 'get_open_editors',
    title = 'Open files',
    description = 'List the files that are open in Neovim, and which of them the person is in.',
    args = {
      count = { type = 'integer', minimum = 1, default = 100 },
      start = { type = 'integer', minimum = 0, default = 0 },
    },
    read_only = true,
    execute = function(cb, args)
      require('dapeer.documents.editors').list(cb, args)
    end,
  },
}
