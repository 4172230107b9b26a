-- How a diff looks: a tab page with two windows, and nothing left of it afterwards.
local M = {}

local NARROW = 80 -- columns; two windows beside each other need more

---@class dapeer.View
---@field tab integer
---@field origin integer   the tab page that the person came from
---@field id integer       of the diff
---@field left integer     buffer: the original
---@field right integer    buffer: the proposal
---@field terminal? boolean the person was in terminal mode there
---@field inside? boolean  the person was in the tab page when it closed

local WINDOW = {
  diff = false, -- what a new window takes over from the one before
  scrollbind = false,
  cursorbind = false,
  winfixheight = false,
  winfixwidth = false,
  previewwindow = false,
  winhighlight = '',
}

---@type { before?: string, during?: string }
local scrolling = require('dapeer.kept').part('scrolling')

local quiet ---@type fun()?

---For `quietly` alone.
function M.run()
  local action = assert(quiet)
  quiet = nil
  action()
end

-- An error of a person's autocommand has several lines, after which Neovim would wait for a key.
local function quietly(action)
  local ok, problem
  quiet = function()
    ok, problem = pcall(action)
  end
  vim.cmd("silent! lua require('dapeer.diff.view').run()")
  return ok, problem
end

local function set(window, options)
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { scope = 'local', win = window })
  end
end

local function bar(diff, sides)
  local function plain(text)
    return (require('dapeer.results.fitting').line(text):gsub('%%', '%%%%'))
  end
  local proposed = ' %#Title#ZZ%* accept  %#Title#ZQ%* reject  '
  if #sides.notes > 0 then
    proposed = proposed .. ('%%#WarningMsg#(%s)%%*'):format(plain(table.concat(sides.notes, ', ')))
  end
  local original = sides.from and ('%s → %s'):format(sides.from, diff.name) or diff.name
  return ' original %<' .. plain(original), proposed
end

-- 'scrollopt' is for all windows: `:diffthis` adds to it, and it is given back with the last diff.
local function compare(windows)
  scrolling.before = scrolling.before or vim.o.scrollopt
  for _, window in ipairs(windows) do
    vim.api.nvim_win_call(window, function()
      vim.cmd.diffthis()
    end)
  end
  scrolling.during = vim.o.scrollopt
end

---Undo what a diff changes for all windows; no diff is shown any more.
function M.restore()
  if scrolling.before and vim.o.scrollopt == scrolling.during then
    vim.o.scrollopt = scrolling.before
  end
  scrolling.before = nil
end

local function stacked()
  local choice = vim.o.diffopt
  local named = choice:match('horizontal') or choice:match('vertical')
  return named == 'horizontal' or (not named and vim.o.columns < NARROW)
end

-- A person's autocommand that throws leaves a new tab page with another buffer in it.
local function tab_page(view)
  local _, problem = pcall(vim.cmd, ('silent! keepalt tab sbuffer %d'):format(view.left))
  if vim.api.nvim_get_current_tabpage() == view.origin then
    error(problem ~= '' and problem or 'no tab page can be opened', 0)
  end
  local window = vim.api.nvim_get_current_win()
  if vim.api.nvim_win_get_buf(window) ~= view.left then
    set(window, { winfixbuf = false })
    pcall(vim.api.nvim_win_set_buf, window, view.left)
  end
  return window
end

local function windows(view)
  local left = tab_page(view)
  view.tab = vim.api.nvim_win_get_tabpage(left)
  set(left, WINDOW)
  local place = { split = stacked() and 'below' or 'right', win = left }
  pcall(vim.api.nvim_open_win, view.right, true, place)
  local right = assert(vim.fn.win_findbuf(view.right)[1], 'the window cannot be split')
  set(right, WINDOW)
  return left, right
end

local function to_first_change(window)
  vim.api.nvim_win_call(window, function()
    if vim.fn.diff_hlID(1, 1) == 0 then
      pcall(vim.cmd, 'silent normal! ]c')
    end
  end)
end

---Show a diff in a tab page of its own, and go there.
---@param diff dapeer.Diff
---@param sides dapeer.Sides
---@param decide fun(what: 'accept'|'reject')
---@return dapeer.View? view
---@return string? problem
function M.open(diff, sides, decide)
  local origin = vim.api.nvim_get_current_tabpage()
  local view = require('dapeer.diff.buffers').make(diff, sides, decide)
  view.origin = origin
  view.id = diff.id
  local ok, problem = quietly(function()
    local left, right = windows(view)
    local original, proposed = bar(diff, sides)
    set(left, { winbar = original })
    set(right, { winbar = proposed })
    compare({ left, right })
    set(left, { winfixbuf = true })
    set(right, { winfixbuf = true })
    to_first_change(right)
    vim.api.nvim_set_current_win(right)
  end)
  if ok then
    return view
  end
  M.close(view)
  return nil, problem
end

-- The last window of all cannot be closed: it gets another buffer.
local function empty(window)
  pcall(vim.api.nvim_win_call, window, function()
    vim.cmd('diffoff')
  end)
  pcall(set, window, { winfixbuf = false, winbar = '' })
  pcall(vim.api.nvim_win_set_buf, window, vim.api.nvim_create_buf(true, false))
end

-- A person's autocommand may throw at each step; the next one follows all the same.
local function remove(buffer)
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    -- `silent!` hides the error if it could not be closed.
    require('dapeer.editor.windows').close(window)
    if vim.api.nvim_win_is_valid(window) then
      empty(window)
    end
  end
  if vim.api.nvim_buf_is_valid(buffer) then
    require('dapeer.editor.windows').delete(buffer)
  end
  if vim.api.nvim_buf_is_valid(buffer) then
    pcall(vim.cmd, 'noautocmd bwipeout! ' .. buffer)
  end
end

---@param view dapeer.View
---@return boolean
function M.has_person(view)
  return view.tab ~= nil and vim.api.nvim_get_current_tabpage() == view.tab
end

---Which side the person can see nowhere any more, as a sentence.
---@param view dapeer.View
---@return string?  nil: both are shown
function M.missing(view)
  for _, side in ipairs({ { view.right, 'proposal' }, { view.left, 'original' } }) do
    local buffer, name = unpack(side)
    if not vim.api.nvim_buf_is_loaded(buffer) or #vim.fn.win_findbuf(buffer) == 0 then
      return ('The %s was closed without a decision.'):format(name)
    end
  end
end

---Close all that shows a diff. Who is in its tab page goes to the next diff, or back to where they came from.
---@param view dapeer.View
---@param next_tab? integer
function M.close(view, next_tab)
  local back = next_tab or view.origin
  quietly(function()
    if (view.inside or M.has_person(view)) and vim.api.nvim_tabpage_is_valid(back) then
      pcall(vim.api.nvim_set_current_tabpage, back)
    end
    remove(view.right)
    remove(view.left)
    -- `:saveas` and `:file` leave a buffer of the old name behind.
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_get_name(buffer):match('^dapeer://%w+/(%d+)/') == tostring(view.id) then
        remove(buffer)
      end
    end
  end)
end

return M
