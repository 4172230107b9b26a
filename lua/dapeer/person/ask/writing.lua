-- A question that the person answers by writing.
local M = {}

local attention = require('dapeer.person.attention')
local float = require('dapeer.person.ask.float')

local ROOM = 5 -- lines for the answer

---@param window dapeer.ask.Float
local function text_of(window)
  local lines = vim.api.nvim_buf_get_lines(window.buffer, 0, -1, false)
  return vim.trim(table.concat(lines, '\n'))
end

-- Insert mode ends where it began: in a window of the person's it would leave marks, and move the cursor.
---@param action fun()
local function after_insert(action)
  if attention.typing() then
    vim.cmd.stopinsert()
  end
  attention.when_typed(action)
end

-- The question stands above the text, where no key reaches it.
---@param window dapeer.ask.Float
---@param lines string[]
local function head(window, lines)
  local namespace = vim.api.nvim_create_namespace('dapeer_ask')
  vim.api.nvim_buf_set_extmark(window.buffer, namespace, 0, 0, {
    right_gravity = false,
    virt_lines_above = true,
    virt_lines = vim.tbl_map(function(line)
      return { { line == '' and ' ' or line, 'Normal' } }
    end, lines),
  })
  -- What stands above the first line is shown only when the window is scrolled to it.
  local function scroll()
    if vim.fn.line('w0', window.window) == 1 then
      vim.api.nvim_win_call(window.window, function()
        vim.fn.winrestview({ topline = 1, topfill = #lines })
      end)
    end
  end
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI', 'TextChangedI' }, {
    group = window.group,
    buffer = window.buffer,
    callback = scroll,
  })
  scroll()
end

---@param question string
---@param title string
---@param done { written: fun(text: string), closed: fun() }
---@return dapeer.ask.Float
function M.open(question, title, done)
  local lines = float.wrapped(question, float.width())
  table.insert(lines, '')
  local window = float.open({ '' }, {
    title = title,
    footer = '<CR> answer · <C-j> new line · <Esc> <Esc> no answer',
    height = #lines + ROOM,
    closed = function()
      after_insert(done.closed)
    end,
  })
  head(window, lines)
  float.map(window, { 'n', 'i' }, { '<CR>' }, function()
    local text = text_of(window)
    -- Nothing is no answer, and may be a key meant for elsewhere.
    if text ~= '' then
      after_insert(function()
        done.written(text)
      end)
    end
  end)
  -- Plugins that complete or pair keys do so by mappings of their own.
  vim.keymap.set('i', '<C-j>', '<CR>', { buffer = window.buffer, nowait = true })
  float.map(window, 'n', { '<Esc>', 'q', '<C-c>' }, done.closed)
  vim.cmd.startinsert()
  return window
end

return M
