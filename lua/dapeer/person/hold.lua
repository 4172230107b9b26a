-- Holds the person's mode, window and cursor while what others have put into Neovim runs: plugins that open or close
-- their windows when a program starts or ends.
local M = {}

local attention = require('dapeer.person.attention')

-- Leaving the window of a prompt buffer ends Insert mode, as soon as the event is over, and entering one in which it
-- ended goes on with it. So a prompt buffer of our own is entered, and left as something else.
---@param prompt integer
---@param kind string  what the buffer is when it is left
local function visit(prompt, kind)
  local window = vim.api.nvim_open_win(prompt, false, {
    relative = 'editor',
    row = 0,
    col = 0,
    width = 1,
    height = 1,
    style = 'minimal',
    noautocmd = true,
  })
  local before = vim.api.nvim_get_current_win()
  -- Not earlier: it forgets when it is put into a window.
  vim.bo[prompt].buftype = 'prompt'
  vim.api.nvim_set_current_win(window)
  vim.bo[prompt].buftype = kind
  vim.api.nvim_set_current_win(before)
  vim.api.nvim_win_close(window, true)
end

---@param focus dapeer.Focus
---@param prompt integer
---@param kind string
local function there_and_back(focus, prompt, kind)
  local ignored = vim.o.eventignore
  vim.o.eventignore = 'all'
  pcall(visit, prompt, kind)
  pcall(attention.refocus, focus)
  vim.o.eventignore = ignored
end

-- Insert mode must last for this: the prompt buffer remembers it.
---@param focus dapeer.Focus
---@return integer prompt
local function remember(focus)
  local prompt = vim.api.nvim_create_buf(false, true)
  there_and_back(focus, prompt, 'prompt')
  there_and_back(focus, prompt, 'nofile')
  return prompt
end

---Whether what is the person's can be held: another window would end a completion, and the one command of Insert mode;
---the command-line window allows none.
---@return boolean
function M.possible()
  local mode = vim.api.nvim_get_mode().mode
  return vim.fn.getcmdwintype() == '' and not mode:match('^ni') and not mode:match('^[iR]v?[cx]') and mode ~= 'r'
end

---@class dapeer.Held
---@field mode string
---@field focus dapeer.Focus
---@field windows integer[]
---@field buffer integer
---@field view table
---@field prompt? integer      remembers Insert mode
---@field unfinished? boolean   what they have begun to type is one change with what they type on

---Select again what was selected last, in the same mode.
---@param held { mode: string, view: table }
function M.select(held)
  vim.cmd.normal({ 'gv', bang = true })
  -- After one command of Visual mode within Select mode (`vs`) Neovim goes back to that by itself.
  if held.mode:match('[sS\19]') and not vim.api.nvim_get_mode().mode:match('^[sS\19]') then
    vim.cmd.normal({ '\7', bang = true })
  end
  if held.mode:sub(2) == 's' then
    vim.api.nvim_feedkeys('\15', 'in', false)
  end
  vim.fn.winrestview(held.view)
end

---@param held dapeer.Held
local function release(held)
  local window = held.focus.window
  if not vim.api.nvim_win_is_valid(window) then
    return
  end
  if vim.api.nvim_get_current_win() ~= window then
    attention.refocus(held.focus)
  end
  if vim.api.nvim_get_current_buf() ~= held.buffer then
    return
  end
  local mode = vim.api.nvim_get_mode().mode
  if held.prompt and not vim.deep_equal(vim.api.nvim_list_wins(), held.windows) then
    there_and_back(held.focus, held.prompt, 'nofile')
  elseif held.mode:match('^[vVsS\19\22]') and mode:sub(1, 1) == 'n' then
    return M.select(held)
  end
  local now = vim.fn.winsaveview()
  if now.lnum ~= held.view.lnum or now.col ~= held.view.col then
    vim.fn.winrestview(held.view)
  end
end

---Call back when what is the person's can be held.
---@param callback fun()
---@return fun() cancel
function M.when_possible(callback)
  return attention.when(M.possible, callback)
end

---@return dapeer.Held
local function hold()
  local held = {
    mode = vim.api.nvim_get_mode().mode,
    focus = attention.focus(),
    windows = vim.api.nvim_list_wins(),
    buffer = vim.api.nvim_get_current_buf(),
    view = vim.fn.winsaveview(),
  }
  if held.mode:match('^[iR]') and M.possible() then
    held.unfinished = vim.fn.undotree().synced == 0
    held.prompt = remember(held.focus)
  end
  return held
end

-- What others put off until a later event is held as well; what they put off there again is not.
---@param work fun()
---@return boolean ok
---@return any problem
local function with_what_is_put_off(work)
  local schedule, defer = vim.schedule, vim.defer_fn
  -- A module that is loaded meanwhile may keep these functions for ever: they do nothing of ours afterwards.
  local holding = true
  local function held(later)
    return holding and function()
      M.when_possible(function()
        M.during(later, true)
      end)
    end or later
  end
  vim.schedule = function(later)
    return schedule(held(later))
  end
  vim.defer_fn = function(later, milliseconds)
    return defer(held(later), milliseconds)
  end
  local ok, problem = pcall(work)
  vim.schedule, vim.defer_fn = schedule, defer
  holding = false
  return ok, problem
end

---Do something while what is the person's is held.
---@param work fun()
---@param put_off? boolean  by what was held before
function M.during(work, put_off)
  local held = hold()
  local ok, problem
  if put_off then
    ok, problem = pcall(work)
  else
    ok, problem = with_what_is_put_off(work)
  end
  pcall(release, held)
  -- Neovim ends a change where a window is left; `u` would take back a part of what was typed.
  if held.unfinished and vim.api.nvim_get_current_buf() == held.buffer then
    pcall(vim.cmd.undojoin)
  end
  if held.prompt then
    pcall(vim.api.nvim_buf_delete, held.prompt, { force = true })
  end
  if not ok then
    error(problem, 0)
  end
end

return M
