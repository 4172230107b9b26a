-- The person's actions on a diff: which accept it, which reject it, and which decide nothing.
local M = {}

---@class dapeer.Gestures
---@field warned? boolean
---@field there boolean        the person is in the proposal
---@field command? string      the command line that runs, if one was typed in the proposal

local WRITES = { write = true, update = true, wq = true, xit = true, exit = true, wall = true }

-- Whether a typed line has a write among its commands. Only a guess: `:s` and `:g` take what follows a bar for
-- their own, as Neovim parses them. But it is asked only when a write has come in the same moment.
local function writes(line)
  for part in (line:gsub('\\|', '') .. '|'):gmatch('([^|]*)|') do
    local ok, command = pcall(vim.api.nvim_parse_cmd, part, {})
    if ok and WRITES[command.cmd] then
      return true
    end
  end
  return false
end

-- Only what the person does counts, by the command line or by a mapping. A plugin that saves by itself
-- runs within an autocommand, or when Neovim is idle; the option 'autowrite' writes on any occasion.
---@param state dapeer.Gestures
local function by_person(state)
  local _, autocommands = vim.fn.expand('<stack>'):gsub('Autocommands for', '')
  if not state.there or autocommands > 1 then
    return false
  elseif state.command then
    return writes(state.command)
  end
  local mode = vim.api.nvim_get_mode().mode
  local key_runs = (mode == 'n' or mode == 'i') and vim.fn.state('S') ~= ''
  return key_runs and not vim.o.autowrite and not vim.o.autowriteall
end

---@param diff dapeer.Diff
---@param state dapeer.Gestures
---@param decide fun(what: 'accept'|'reject', reason?: string)
local function watch_writes(diff, state, decide, on)
  local right, say = diff.view.right, require('dapeer.person.attention').say
  on('BufEnter', right, function()
    state.there = true
  end)
  on('BufLeave', right, function()
    state.there = false
  end)
  on('CmdlineLeave', nil, function(event)
    if event.match == ':' and state.there and not vim.v.event.abort then
      state.command = vim.fn.getcmdline()
      vim.schedule(function()
        state.command = nil
      end)
    end
  end)
  on('BufWriteCmd', right, function(event)
    if event.match ~= vim.api.nvim_buf_get_name(right) then
      say('nothing written: a proposal has no other file; ZZ accepts it', vim.log.levels.WARN)
    elseif by_person(state) then
      decide('accept')
    elseif state.there and not state.warned then
      state.warned = true
      say('a write that you did not type accepts nothing; ZZ does')
    end
  end)
end

-- A proposal is reviewed beside the original: without either there is nothing to review.
---@param diff dapeer.Diff
---@param decide fun(what: 'accept'|'reject', reason?: string)
local function watch_windows(diff, decide, on)
  local view = diff.view
  local function look()
    local inside = require('dapeer.diff.view').has_person(view)
    vim.schedule(function()
      local missing = require('dapeer.diff.view').missing(view)
      if missing then
        view.inside = inside
        decide('reject', missing)
      end
    end)
  end
  on('WinClosed', nil, look)
  on({ 'BufHidden', 'BufUnload', 'BufWipeout' }, view.left, look)
  on({ 'BufHidden', 'BufUnload', 'BufWipeout' }, view.right, look)
  -- What was closed under 'eventignore' is missed before the next key. Nothing is scheduled if nothing is missing:
  -- this event would follow, again and again.
  on('SafeState', nil, function()
    local missing = require('dapeer.diff.view').missing(view)
    if missing then
      decide('reject', missing)
    end
  end)
end

-- A pending diff does not prevent quitting; if something else does, the diff stays as it was.
---@param diff dapeer.Diff
local function watch_exit(diff, on)
  local right = diff.view.right
  on('ExitPre', nil, function()
    vim.bo[right].modified = false
    vim.schedule(function()
      if not diff.outcome and vim.api.nvim_buf_is_valid(right) then
        vim.bo[right].modified = true
      end
    end)
  end)
end

---Watch what the person does with a diff that is shown, until its autocommands are removed.
---@param diff dapeer.Diff
---@param decide fun(what: 'accept'|'reject', reason?: string)
function M.watch(diff, decide)
  local state = { there = vim.api.nvim_get_current_buf() == diff.view.right }
  local function on(events, buffer, callback)
    vim.api.nvim_create_autocmd(events, {
      group = diff.group,
      buffer = buffer,
      callback = function(event)
        callback(event) -- a true value would remove the autocommand
      end,
    })
  end
  watch_writes(diff, state, decide, on)
  watch_windows(diff, decide, on)
  watch_exit(diff, on)
end

return M
