--- What the person at the tests' Neovim does and sees besides what the one of the demo does.
local tests = vim.fs.dirname(vim.api.nvim_get_runtime_file('lua/person.lua', false)[1])
local M = dofile(tests .. '/../../../server/dapeer/cli/demo_person.lua')

--- Tell the test.
local function tell(kind, ...)
  pcall(vim.rpcnotify, vim.g.test_channel, kind, ...)
end

local adapters = M.adapters

--- The person's adapter for Python: debugpy of the tests' own interpreter.
function M.adapters(python)
  adapters(python, tell)
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
