-- The person's attention: taken only when they are not typing and have paused, and asked for in one line.
local M = {}

-- Modes in which a key that the person has in mind does no harm elsewhere: Normal, also of a terminal.
-- Within insert mode (`niI`), after an operator (`no`), in a command line (`c`) it would.
local FREE = { n = true, nt = true }

---@return boolean
local function elsewhere()
  return vim.fn.reg_recording() ~= '' or vim.fn.reg_executing() ~= '' or vim.fn.getcmdwintype() ~= ''
end

---Whether keys are under way that are meant for a text, a command, a terminal or a macro.
---@return boolean
function M.typing()
  return not FREE[vim.api.nvim_get_mode().mode] or elsewhere()
end

---Whether the person is in Normal mode, perhaps with half of a command typed.
---@return boolean
function M.in_normal_mode()
  return vim.api.nvim_get_mode().mode:match('^no?[vV\22]?$') ~= nil and not elsewhere()
end

---Whether something within a command or a mapping waits for a key, as a popup that shows what may be typed next. Also
---true while Neovim answers a request.
---@return boolean
function M.awaited()
  return vim.fn.state('S') ~= ''
end

-- A person who has pressed a key this recently, in whatever mode, has the next one in mind.
local PAUSE = 1500 -- ms

---When the last key was typed, by luv's clock.
local typed_at = -math.huge

---What is called back at each key.
---@type table<fun(), true>
local rearming = {}

local watching = false

local function note_key()
  typed_at = vim.uv.hrtime() / 1e6
  for rearm in pairs(rearming) do
    rearm()
  end
end

---Notice the person's keys from now on; those of mappings and macros are not theirs. A long text that they paste comes
---in pieces, each into the current window.
function M.watch()
  if watching then
    return
  end
  watching = true
  local moved = vim.api.nvim_replace_termcodes('<MouseMove>', true, true, true)
  vim.on_key(function(key, typed)
    if typed ~= '' and key ~= moved then
      note_key()
    end
  end, vim.api.nvim_create_namespace('dapeer.attention'))
  local paste = vim.paste
  vim.paste = function(...)
    pcall(note_key)
    return paste(...)
  end
end

---@param from number
---@return number  milliseconds until something is long enough ago; 0: it is
local function left(from)
  return math.max(PAUSE - (vim.uv.hrtime() / 1e6 - from), 0)
end

---Whether no key has come for a while.
---@return boolean
function M.rested()
  return left(typed_at) == 0
end

---Whether nothing that is the person's may be moved: they type, or have pressed a key just now.
---@return boolean
function M.busy()
  return M.typing() or not M.rested()
end

local waits = 0

---Call back, once, as soon as something about the keys, the mode and the macros holds: at once, or later, then in an
---event of its own.
---@param holds fun(): boolean
---@param callback fun()
---@param later? number  milliseconds after which to look, whatever happens
---@return fun() cancel
function M.when(holds, callback, later)
  if holds() then
    callback()
    return function() end
  end
  M.watch()
  waits = waits + 1
  local group = vim.api.nvim_create_augroup('dapeer_attention_' .. waits, { clear = true })
  local timer, over, look = assert(vim.uv.new_timer()), false, nil
  local function arm(milliseconds)
    -- A busy loop's own time is late: the timer would end before the pause does, and nothing would look again.
    vim.uv.update_time()
    timer:start(math.ceil(milliseconds) + 1, 0, look)
  end
  local function rearm()
    arm(PAUSE)
  end
  local function cancel()
    if not over then
      over = true
      rearming[rearm] = nil
      timer:close()
      vim.api.nvim_del_augroup_by_id(group)
    end
  end
  -- Later: `n` may be only what an operator passes through, and a macro is still recorded.
  look = vim.schedule_wrap(function()
    if not over and holds() then
      cancel()
      callback()
    end
  end)
  rearming[rearm] = true
  arm(later or left(typed_at))
  -- A mode may end within a prompt, without an event; then Neovim waits for a key in a safe state.
  vim.api.nvim_create_autocmd({ 'ModeChanged', 'RecordingLeave', 'CmdwinLeave', 'SafeState' }, {
    group = group,
    callback = function()
      look()
    end,
  })
  return cancel
end

---Call back when the person has left every mode in which they type.
---@param callback fun()
---@return fun() cancel
function M.when_typed(callback)
  return M.when(function()
    return not M.typing()
  end, callback)
end

---Call back when the person has paused, and does not type.
---@param callback fun()
---@return fun() cancel
function M.when_paused(callback)
  return M.when(function()
    return not (M.busy() or M.awaited())
  end, callback)
end

---Call back when the person has paused, and does not type, or is in a terminal: who waits for the assistant there stays
---in terminal mode.
---@param callback fun()
---@return fun() cancel
function M.when_free(callback)
  local from = vim.uv.hrtime() / 1e6
  return M.when(function()
    return not (M.busy() or M.awaited()) or (M.rested() and left(from) == 0 and vim.api.nvim_get_mode().mode == 't')
  end, callback, PAUSE)
end

---@class dapeer.Focus
---@field window integer
---@field previous integer  the window that `:wincmd p` goes to; 0: none

---Where the person is.
---@return dapeer.Focus
function M.focus()
  return {
    window = vim.api.nvim_get_current_win(),
    previous = vim.fn.win_getid(vim.fn.winnr('#')),
  }
end

-- Leaving the window of a prompt buffer would end Insert mode.
---@param window integer
local function takes_out_of_insert(window)
  return vim.api.nvim_get_mode().mode:match('^[iR]') ~= nil
    and vim.api.nvim_win_is_valid(window)
    and vim.bo[vim.api.nvim_win_get_buf(window)].buftype == 'prompt'
end

---Bring the person back to where they were, with the same window before it.
---@param focus dapeer.Focus
function M.refocus(focus)
  if not vim.api.nvim_win_is_valid(focus.window) then
    return
  elseif takes_out_of_insert(focus.previous) then
    M.when_typed(function()
      if vim.api.nvim_get_current_win() == focus.window and vim.fn.winnr('#') == 0 then
        M.refocus(focus)
      end
    end)
  elseif focus.previous ~= focus.window then
    vim.cmd(('noautocmd call win_gotoid(%d)'):format(focus.previous))
  end
  -- A window that is entered from itself would be its own previous one.
  if vim.api.nvim_get_current_win() ~= focus.window then
    vim.api.nvim_set_current_win(focus.window)
  end
end

local function plain(sentence)
  return require('dapeer.results.fitting').line('dapeer: ' .. sentence)
end

---One line, never longer than what fits: a longer one makes Neovim wait for a key.
---@param sentence string
---@param tail? string  stays when the sentence is cut
---@return string
function M.fitted(sentence, tail)
  tail = tail or ''
  local text = plain(sentence)
  local room = math.max(vim.v.echospace, 20) - #tail
  if vim.fn.strdisplaywidth(text) > room then
    text = require('dapeer.results.fitting').shortened(text, room)
  end
  return text .. tail
end

---Tell one line.
---@param sentence string
---@param level? integer
---@param tail? string  stays when the sentence is cut
function M.say(sentence, level, tail)
  vim.notify(M.fitted(sentence, tail), level or vim.log.levels.INFO)
end

---Warn in one line; the whole is in the health report, to which a line points that had to be cut.
---@param sentence string
function M.warn(sentence)
  local fits = vim.fn.strdisplaywidth(plain(sentence)) <= vim.v.echospace
  M.say(sentence, vim.log.levels.WARN, not fits and '; see :checkhealth dapeer' or nil)
end

return M
