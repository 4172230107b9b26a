-- The person's attention: taken only when they are not typing, and asked for in one line.
local M = {}

-- Modes in which a key that the person has in mind does no harm elsewhere: Normal, also of a terminal.
-- Within insert mode (`niI`), after an operator (`no`), in a command line (`c`) it would.
local FREE = { n = true, nt = true }

---Whether keys are under way that are meant for a text, a command, a terminal or a macro.
---@return boolean
function M.typing()
  return not FREE[vim.api.nvim_get_mode().mode]
    or vim.fn.reg_recording() ~= ''
    or vim.fn.reg_executing() ~= ''
    or vim.fn.getcmdwintype() ~= ''
end

-- Who waits for the assistant in a terminal stays in terminal mode: there no keys for a while are as good as
-- another mode.
local PAUSE = 1500 -- ms

---Call back, once, when no key has come for `PAUSE` in terminal mode.
---@param callback fun()
---@return fun() cancel
local function when_idle(callback)
  local timer = assert(vim.uv.new_timer())
  local keys = vim.api.nvim_create_namespace('')
  local function cancel()
    vim.on_key(nil, keys)
    timer:stop()
    if not timer:is_closing() then
      timer:close()
    end
  end
  local look = vim.schedule_wrap(function()
    if not timer:is_closing() and vim.api.nvim_get_mode().mode == 't' then
      callback()
    end
  end)
  timer:start(PAUSE, 0, look)
  vim.on_key(function()
    timer:start(PAUSE, 0, look)
  end, keys)
  return cancel
end

local waits = 0

---Call back when the person has left every mode in which they type: at once, or later, then in an event of its own.
---@param callback fun()
---@return fun() cancel
function M.when_typed(callback)
  if not M.typing() then
    callback()
    return function() end
  end
  waits = waits + 1
  local group = vim.api.nvim_create_augroup('dapeer_attention_' .. waits, { clear = true })
  local over = false
  local function cancel()
    if not over then
      over = true
      vim.api.nvim_del_augroup_by_id(group)
    end
  end
  -- A mode may end within a prompt, without an event; then Neovim waits for a key in a safe state.
  vim.api.nvim_create_autocmd({ 'ModeChanged', 'RecordingLeave', 'CmdwinLeave', 'SafeState' }, {
    group = group,
    -- Later: `n` may be only what an operator passes through, and a macro is still recorded.
    callback = vim.schedule_wrap(function()
      if not over and not M.typing() then
        cancel()
        callback()
      end
    end),
  })
  return cancel
end

---Call back when the person does not type, or has paused in a terminal.
---@param callback fun()
---@return fun() cancel
function M.when_free(callback)
  local cancel_typed, cancel_idle
  local function cancel()
    cancel_typed()
    cancel_idle()
  end
  local function free()
    if cancel_idle then
      cancel()
    end
    callback()
  end
  cancel_typed = M.when_typed(free)
  cancel_idle = M.typing() and when_idle(free) or function() end
  return cancel
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

---Bring the person back to where they were, with the same window before it.
---@param focus dapeer.Focus
function M.refocus(focus)
  if not vim.api.nvim_win_is_valid(focus.window) then
    return
  elseif focus.previous ~= focus.window then
    vim.cmd(('noautocmd call win_gotoid(%d)'):format(focus.previous))
  end
  -- A window that is entered from itself would be its own previous one.
  if vim.api.nvim_get_current_win() ~= focus.window then
    vim.api.nvim_set_current_win(focus.window)
  end
end

-- Neovim's functions do not take zero bytes, and what else is no character has no width.
local function plain(sentence)
  return (('dapeer: ' .. sentence):gsub('%s+', ' '):gsub('%c', ''))
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
