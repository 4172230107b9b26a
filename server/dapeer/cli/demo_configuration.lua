-- What the person of the demo has in their configuration: a linter, and a tool for the assistant.
local python, channel = ...

require('dapeer').register({
  name = 'amount_to_pay',
  description = 'Run shop.py as it is on disk, and return the line that it prints.',
  read_only = true,
  execute = function(cb, _, ctx)
    local process = vim.system({ python, 'shop.py' }, { text = true }, function(result)
      cb(vim.trim(result.stdout .. result.stderr))
    end)
    ctx.on_cancel(function()
      process:kill('sigterm')
    end)
  end,
})

local CHECK = [[
import sys
try:
    compile(sys.stdin.read(), 'shop.py', 'exec')
except SyntaxError as error:
    print(error.lineno, error.offset, error.msg)
]]
local namespace = vim.api.nvim_create_namespace('linter')

local function lint(buffer)
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
  vim.system(
    { python, '-c', CHECK },
    { stdin = text, text = true },
    vim.schedule_wrap(function(result)
      local line, column, message = result.stdout:match('(%d+) (%d+) (.*)\n')
      local found = line
        and {
          { lnum = line - 1, col = column - 1, message = message, severity = 1, source = 'compiler' },
        }
      vim.diagnostic.set(namespace, buffer, found or {})
      vim.rpcnotify(channel, 'linted')
    end)
  )
end

vim.api.nvim_create_autocmd('BufReadPost', {
  pattern = '*.py',
  callback = function(event)
    lint(event.buf)
  end,
})
vim.api.nvim_create_autocmd('User', {
  pattern = 'DapeerDiffOpened',
  callback = function()
    vim.rpcnotify(channel, 'diff')
  end,
})
