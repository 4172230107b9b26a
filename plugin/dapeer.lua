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
  desc = 'dapeer: start | stop | restart | status | live | log | follow | diffs | accept | reject [reason] | claude [arguments]',
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
