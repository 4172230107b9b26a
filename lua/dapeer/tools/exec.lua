-- The tool that can do anything; off unless `setup{ tools = { exec = true } }`.
return {
  {
    name = 'exec_lua',
    title = 'Run Lua in Neovim',
    description = 'Run Lua in Neovim; return its values and what it printed. Code that runs for more than 2 seconds fails.',
    args = { code = { type = 'string', required = true } },
    destructive = true,
    -- Any Lua steps, starts and writes as it likes.
    action = { 'run', 'evaluate', 'write' },
    execute = function(cb, args)
      cb(require('dapeer.editor.exec').run(args.code))
    end,
  },
}
