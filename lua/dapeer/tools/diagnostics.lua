-- What is wrong with the code, as language servers and linters in Neovim see it.
return {
  {
    name = 'diagnostics_list',
    title = 'Diagnostics',
    description = 'List errors and warnings of a file, which need not be open, or of the whole workspace.'
      .. ' Unsaved changes count. After an edit ask with fresh=true, which waits for the servers.',
    read_only = true,
    args = {
      filename = { type = 'string', description = 'default: current' },
      workspace = { type = 'boolean', description = 'all files instead' },
      severity = {
        type = 'string',
        enum = { 'error', 'warn', 'info', 'hint' },
        description = 'at least',
      },
      fresh = { type = 'boolean' },
      count = { type = 'integer', minimum = 1, maximum = 1000, default = 100 },
      start = { type = 'integer', minimum = 0, default = 0 },
      timeout_ms = { type = 'integer', minimum = 1 },
    },
    execute = function(cb, args, ctx)
      require('dapeer.lsp.task').run(cb, function()
        return require('dapeer.lsp.diagnostics').list(args, ctx)
      end)
    end,
  },
}
