--- What the person has set up, does and sees, in the Neovim of `dapeer demo --nvim` and in those of the tests.
local M = {}

--- The person's adapter for Python, and what they are told of its sessions by `tell(kind, ...)`.
function M.adapters(python, tell)
  local dap = require('dap')
  dap.adapters.python = {
    type = 'executable',
    command = python,
    args = { '-m', 'debugpy.adapter' },
    -- A busy machine is slow; nvim-dap would say so at such length that Neovim waits for a key.
    options = { initialize_timeout_sec = 60 },
  }
  dap.listeners.after.scopes.person = function(session, _, response)
    -- nvim-dap asks for the scopes when it has jumped and placed its sign. Others ask, too; it keeps
    -- only what it has asked for.
    local frame = session.stopped_thread_id and session.current_frame
    if frame and response and frame.scopes == response.scopes then
      tell('stopped', session.id, frame.line)
    end
  end
  dap.listeners.after.event_initialized.person = function(session)
    tell('initialized', session.id)
  end
  -- It may end before it is initialized.
  dap.listeners.before.initialize.person = function(session)
    session.on_close.person = function()
      -- The sign goes, and the session leaves the list, in callbacks that are scheduled by now.
      vim.schedule(function()
        vim.schedule(function()
          tell('ended', session.id)
        end)
      end)
    end
  end
end

--- Start a session as the person does.
function M.run(config)
  require('dap').run(config)
end

--- Show a file as the person does, by `:edit`, with the cursor at a line.
function M.open(path, line)
  vim.cmd.edit(vim.fn.fnameescape(path))
  vim.api.nvim_win_set_cursor(0, { line, 0 })
end

function M.breakpoint(path, line, condition)
  M.open(path, line)
  require('dap').set_breakpoint(condition)
end

--- Press no key for so long that dapeer moves what the person sees again.
function M.pause()
  local over = false
  require('dapeer.person.attention').when_paused(function()
    over = true
  end)
  vim.wait(10000, function()
    return over
  end, 20)
end

-- The lines of the window that have a sign or the cursor.
function M.sees()
  local cursor, lines = vim.api.nvim_win_get_cursor(0)[1], {}
  local groups = { 'dap_breakpoints' }
  for _, session in pairs(require('dap').sessions()) do
    table.insert(groups, session.sign_group)
  end
  for _, group in ipairs(groups) do
    for _, sign in ipairs(vim.fn.sign_getplaced(0, { group = group })[1].signs) do
      local text = vim.trim(vim.fn.sign_getdefined(sign.name)[1].text)
      lines[sign.lnum] = (lines[sign.lnum] or '') .. text
    end
  end
  lines[cursor] = lines[cursor] or ''
  local shown = {}
  for line, text in vim.spairs(lines) do
    local code = vim.api.nvim_buf_get_lines(0, line - 1, line, false)[1]
    table.insert(shown, { line, text, code, line == cursor })
  end
  return shown
end

-- What the screen shows, line by line.
function M.looks(lines)
  vim.cmd.redraw()
  local shown = {}
  for row = 1, lines do
    local cells = {}
    for column = 1, vim.o.columns do
      cells[column] = vim.fn.screenstring(row, column)
    end
    shown[row] = table.concat(cells):gsub('%s+$', '')
  end
  return shown
end

return M
