-- Defines the command and nothing else: every module loads when it is used.
if vim.g.loaded_dapeer then
  return
end
vim.g.loaded_dapeer = true

vim.api.nvim_create_user_command('Dapeer', function(call)
  local problem = require('dapeer.needs').lacking()
  if problem then
    return vim.notify(problem, vim.log.levels.ERROR)
  end
  require('dapeer.command').run(call.fargs)
end, {
  nargs = '*',
  desc = 'dapeer: start | stop | restart | pause | resume | status | live | log | follow | allow [session] | deny | answer | diffs | accept | reject [reason] | claude [arguments]',
  complete = function(lead, line)
    return require('dapeer.command').complete(lead, line)
  end,
})

vim.api.nvim_create_user_command('DapeerSend', function(call)
  local problem = require('dapeer.needs').lacking()
    or require('dapeer.integrations.claude').send(call.line1, call.line2)
  if problem then
    vim.notify('dapeer: ' .. problem, vim.log.levels.WARN)
  end
end, { range = true, desc = 'dapeer: mention these lines to Claude Code' })

-- For mappings of your own, in every mode.
for name, command in pairs({
  allow = 'allow',
  ['allow-session'] = 'allow session',
  deny = 'deny',
  answer = 'answer',
}) do
  for _, modes in ipairs({ '', '!', 't' }) do
    vim.api.nvim_set_keymap(modes, ('<Plug>(dapeer-%s)'):format(name), ('<Cmd>Dapeer %s<CR>'):format(command), {
      noremap = true,
      desc = 'dapeer: ' .. command,
    })
  end
end
