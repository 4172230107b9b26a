-- Showing a file to the person, where it disturbs them least.
local M = {}

local attention = require('dapeer.person.attention')
local editor = require('dapeer.editor')
local windows = require('dapeer.editor.windows')

local WIDE = 160 -- columns of a window that is split side by side

local namespace -- of what is highlighted

---@class dapeer.editor.Place
---@field filename? string
---@field line? integer
---@field column? integer
---@field end_line? integer
---@field end_column? integer
---@field text? string
---@field focus? boolean

-- A window in which the person types keeps its buffer, and its cursor.
local function busy(window)
  return window == vim.api.nvim_get_current_win() and attention.busy()
end

local function usable(window, bufnr)
  if not windows.editing(window) or busy(window) then
    return false
  end
  return vim.api.nvim_win_get_buf(window) == bufnr or (windows.replaceable(window) and not vim.wo[window].diff)
end

-- The person's own window first, then the others of the tab page that they look at.
local function candidates()
  local here = vim.api.nvim_tabpage_list_wins(0)
  local last = windows.window()
  if last and vim.tbl_contains(here, last) then
    table.insert(here, 1, last)
  end
  return here
end

---@param bufnr integer
---@return integer? window
---@return boolean shown  the buffer is in it already
local function find(bufnr)
  if not windows.real(bufnr) then
    -- A help, a terminal, a list: it stays where it is, and no text makes room for it.
    local window = vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(window)
      return vim.api.nvim_win_get_buf(window) == bufnr
    end)
    return window, window ~= nil
  end
  local choices = vim.tbl_filter(function(window)
    return usable(window, bufnr)
  end, candidates())
  local showing = vim.iter(choices):find(function(window)
    return vim.api.nvim_win_get_buf(window) == bufnr
  end)
  return showing or choices[1], showing ~= nil
end

-- A new window beside that of the person; beside everything when there is only what is no text.
local function split(bufnr)
  local last = windows.window()
  local beside = last and vim.tbl_contains(vim.api.nvim_tabpage_list_wins(0), last) and last or -1
  local width = beside == -1 and vim.o.columns or vim.api.nvim_win_get_width(beside)
  return vim.api.nvim_open_win(bufnr, false, {
    win = beside,
    split = (beside == -1 or width >= WIDE) and 'right' or 'above',
  })
end

---@return integer? window
---@return string? problem
local function place(bufnr)
  local window, shown = find(bufnr)
  if shown then
    return window
  end
  local ok, problem = require('dapeer.editor.loading').quietly(function()
    if window then
      -- So that CTRL-O leads back.
      vim.api.nvim_win_call(window, function()
        vim.cmd("normal! m'")
      end)
      vim.api.nvim_win_set_buf(window, bufnr)
    else
      window = split(bufnr)
    end
  end)
  if not window or vim.api.nvim_win_get_buf(window) ~= bufnr then
    return nil,
      ('Neovim cannot show %s: %s'):format(editor.name(bufnr), ok and 'something closed it' or tostring(problem))
  end
  return window
end

---@class dapeer.editor.Range  1-based lines, 0-based bytes; the last byte belongs to it
---@field line integer
---@field byte integer
---@field end_line? integer
---@field end_byte? integer

-- Where a text is: its first place.
---@return dapeer.editor.Range?
local function range_of_text(bufnr, text)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  -- The last line ends, too, as in the file.
  local whole = table.concat(lines, '\n') .. (vim.bo[bufnr].endofline and '\n' or '')
  local first, last = whole:find(text, 1, true)
  if not first then
    return nil
  end
  local line, start = 1, 1 -- of the line that was come to
  local function position(at)
    local ending = whole:find('\n', start, true)
    while ending and ending < at do
      line, start = line + 1, ending + 1
      ending = whole:find('\n', start, true)
    end
    return line, at - start
  end
  local first_line, byte = position(first)
  local end_line, end_byte = position(last)
  return { line = first_line, byte = byte, end_line = end_line, end_byte = end_byte }
end

---@param where dapeer.editor.Place
---@return dapeer.editor.Range?
local function range_of_numbers(bufnr, where)
  local total = vim.api.nvim_buf_line_count(bufnr)
  local line = math.min(where.line, total)
  local range = { line = line, byte = editor.byte(bufnr, line, where.column or 1) }
  if where.end_line or where.end_column then
    range.end_line = math.min(math.max(where.end_line or line, line), total)
    local length = #editor.line(bufnr, range.end_line)
    local last = where.end_column and editor.byte(bufnr, range.end_line, where.end_column) or length - 1
    range.end_byte = math.max(math.min(last, length - 1), 0)
  end
  return range
end

---@return dapeer.editor.Range?
---@return string? problem
local function range(bufnr, where)
  if where.text and where.text ~= '' then
    local found = range_of_text(bufnr, where.text)
    return found, not found and ('The text is not in %s, which is shown.'):format(editor.name(bufnr)) or nil
  elseif where.line then
    return range_of_numbers(bufnr, where)
  end
end

-- Until the person moves, leaves, or something else is shown.
---@param bufnr integer
---@param where dapeer.editor.Range
local function highlight(bufnr, where)
  namespace = namespace or vim.api.nvim_create_namespace('dapeer_shown')
  local group = vim.api.nvim_create_augroup('dapeer_shown', { clear = true })
  for _, other in ipairs(vim.api.nvim_list_bufs()) do
    vim.api.nvim_buf_clear_namespace(other, namespace, 0, -1)
  end
  local text = editor.line(bufnr, where.end_line)
  local last = where.end_byte
  local after = last < #text and last + vim.str_utf_end(text, last + 1) + 1 or #text
  vim.api.nvim_buf_set_extmark(bufnr, namespace, where.line - 1, where.byte, {
    end_row = where.end_line - 1,
    end_col = after,
    hl_group = 'Visual',
  })
  -- The cursor that we have just set counts as moved once.
  vim.schedule(function()
    vim.api.nvim_create_autocmd({ 'CursorMoved', 'InsertEnter', 'BufHidden', 'TextChanged' }, {
      group = group,
      buffer = bufnr,
      once = true,
      callback = function()
        vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
      end,
    })
  end)
end

-- In the middle, unless it is on screen already.
local function go(window, where)
  vim.api.nvim_win_call(window, function()
    vim.cmd("normal! m'")
    local seen = where.line >= vim.fn.line('w0') and where.line <= vim.fn.line('w$')
    vim.api.nvim_win_set_cursor(window, { where.line, where.byte })
    vim.cmd('normal! zv' .. (seen and '' or 'zz'))
  end)
end

local function select(window, where)
  vim.cmd('normal! v')
  vim.api.nvim_win_set_cursor(window, { where.end_line, where.end_byte })
end

---@param where dapeer.editor.Place
---@return boolean focused
local function focus(window, where)
  if not where.focus or attention.busy() then
    return window == vim.api.nvim_get_current_win()
  end
  vim.api.nvim_set_current_win(window)
  return true
end

---@return dapeer.Result
local function report(window, bufnr, target, where, focused)
  local cursor = vim.api.nvim_win_get_cursor(window)
  local line, column = cursor[1], editor.character(bufnr, cursor[1], cursor[2])
  local text = ('Shown: %s:%d:%d'):format(editor.name(bufnr), line, column)
  if target and target.end_line then
    text = ('Shown: %s:%d-%d, %s'):format(
      editor.name(bufnr),
      target.line,
      target.end_line,
      where.focus and focused and 'selected' or 'highlighted'
    )
  end
  if where.focus and not focused then
    text = text .. '. The person is typing elsewhere, so the cursor stays there.'
  end
  return require('dapeer.results').result(text, {
    file = editor.path(bufnr),
    bufnr = bufnr,
    line = target and target.line or line,
    column = target and editor.character(bufnr, target.line, target.byte) or column,
    end_line = target and target.end_line,
    end_column = target and target.end_line and editor.character(bufnr, target.end_line, target.end_byte),
    focused = focused,
    window = window,
  })
end

---@param where dapeer.editor.Place
---@return dapeer.Result?
---@return string? problem
function M.open(where)
  -- Loaded in its window, not before: its file type sets options of the window.
  local bufnr, problem = editor.buffer(where.filename, { load = false })
  if not bufnr then
    return nil, problem
  end
  local window
  window, problem = place(bufnr)
  if not window then
    return nil, problem
  end
  if windows.real(bufnr) then
    vim.bo[bufnr].buflisted = true
  end
  local target
  target, problem = range(bufnr, where)
  if problem then
    return nil, problem
  end
  if target and not busy(window) then
    go(window, target)
  end
  local focused = focus(window, where)
  if target and target.end_line then
    if focused and where.focus then
      select(window, target)
    else
      highlight(bufnr, target)
    end
  end
  return report(window, bufnr, target, where, focused)
end

return M
