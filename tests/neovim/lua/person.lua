--- What the person at the tests' Neovim has set up, does and sees.
local M = {}

--- Tell the test.
local function tell(kind, ...)
  pcall(vim.rpcnotify, vim.g.test_channel, kind, ...)
end

--- The person's adapter for Python: debugpy of the tests' own interpreter.
function M.adapters(python)
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
      tell('stopped', session.id, session.current_frame.line)
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

function M.toggle(path, line)
  M.open(path, line)
  require('dap').toggle_breakpoint()
end

function M.evaluate(expression)
  local session = require('dap').session()
  local arguments = { expression = expression, context = 'repl', frameId = session.current_frame.id }
  session:request('evaluate', arguments, function(err, response)
    tell('evaluated', err and tostring(err) or response.result)
  end)
end

--- nvim-dap's own breakpoints, with their conditions.
function M.conditions()
  local found = {}
  for _, points in pairs(require('dap.breakpoints').get()) do
    vim.list_extend(found, points)
  end
  return found
end

local function signs_of(group)
  local found = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    for _, placed in ipairs(vim.fn.sign_getplaced(buffer, { group = group })[1].signs) do
      table.insert(found, { vim.api.nvim_buf_get_name(buffer), placed.lnum, placed.name })
    end
  end
  return found
end

--- The signs of breakpoints: path, line, name.
function M.breakpoints()
  return signs_of('dap_breakpoints')
end

--- The sessions of nvim-dap, children included, with the line that it shows as stopped.
function M.sessions()
  local found = {}
  local function add(sessions)
    for _, session in pairs(sessions) do
      table.insert(found, {
        id = session.id,
        name = session.config.name,
        parent = session.parent and session.parent.id,
        stopped = session.stopped_thread_id ~= nil,
        line = session.stopped_thread_id and (session.current_frame or {}).line,
        signs = signs_of(session.sign_group),
        focused = session == require('dap').session(),
      })
      add(session.children)
    end
  end
  add(require('dap').sessions())
  table.sort(found, function(a, b)
    return a.id < b.id
  end)
  return found
end

--- What is the person's own: windows, cursors, buffers, registers, mode.
function M.desk()
  local windows = {}
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local buffer = vim.api.nvim_win_get_buf(window)
    table.insert(windows, {
      id = window,
      buffer = vim.api.nvim_buf_get_name(buffer),
      cursor = vim.api.nvim_win_get_cursor(window),
      view = vim.api.nvim_win_call(window, vim.fn.winsaveview),
    })
  end
  local registers = {}
  for name in ('"0123456789abcdefghijklmnopqrstuvwxyz-:./'):gmatch('.') do
    registers[name] = vim.fn.getreg(name)
  end
  local text = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[buffer].buflisted then
      text[tostring(buffer)] = {
        vim.api.nvim_buf_get_name(buffer),
        vim.api.nvim_buf_get_changedtick(buffer),
      }
    end
  end
  return {
    window = vim.api.nvim_get_current_win(),
    windows = windows,
    registers = registers,
    listed = text,
    mode = vim.api.nvim_get_mode().mode,
  }
end

return M
