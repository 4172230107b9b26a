--- One set of breakpoints: the person's signs are the cores' breakpoints, and the other way round.
---
--- Cores send single changes, never a whole file, so that no breakpoint is erased by a side that does not
--- know it yet. The person's changes go out as the whole picture, which a core compares with the one before.
--- Lines are those on disk, which programs load: while a buffer has unsaved changes, its signs stand elsewhere.
local M = {}

local sent ---@type table?
---The number of the latest change that each core has asked for, by channel.
---@type table<integer, integer>
local applied = {}
local pending = false

---The breakpoints of files whose buffers were unloaded, which takes their signs: programs have them still.
---@type table<string, table[]>
local kept = {}

---@param buffer integer
---@param breakpoints table[] nvim-dap's own
---@return table[]
local function on_disk(buffer, breakpoints)
  local lines = require('dapeer.editor.lines')
  local hunks, found = lines.changed(buffer), {}
  for _, each in ipairs(breakpoints) do
    local line = lines.on_disk(hunks, each.line)
    if line then
      table.insert(found, {
        line = line,
        sign = line ~= each.line and each.line or nil,
        condition = each.condition,
        hitCondition = each.hitCondition,
        logMessage = each.logMessage,
      })
    end
  end
  return found
end

---All breakpoints of nvim-dap: by path, a list of DAP `SourceBreakpoint`s; `sign` is the line of the sign, if another.
---@return table<string, table[]>
function M.snapshot()
  local found = vim.empty_dict()
  for buffer, breakpoints in pairs(require('dap.breakpoints').get()) do
    local path = vim.api.nvim_buf_get_name(buffer)
    local here = path ~= '' and on_disk(buffer, breakpoints) or {}
    if #here > 0 then
      found[path] = here
    end
  end
  return vim.tbl_extend('keep', found, kept)
end

---@param breakpoints table nvim-dap's own
---@param buffer integer
---@param line integer
---@param breakpoint table
local function set(breakpoints, buffer, line, breakpoint)
  breakpoints.set({
    condition = breakpoint.condition,
    hit_condition = breakpoint.hitCondition,
    log_message = breakpoint.logMessage,
  }, buffer, line)
end

---A buffer is about to lose its signs.
---@param buffer integer
local function keep(buffer)
  local path = vim.api.nvim_buf_get_name(buffer)
  local here = on_disk(buffer, require('dap.breakpoints').get(buffer)[buffer] or {})
  for _, each in ipairs(here) do
    each.sign = nil
  end
  if path ~= '' and #here > 0 then
    kept[path] = here
  end
end

---Put the signs of a file back.
---@param buffer integer
local function put_back(buffer)
  local path = vim.api.nvim_buf_get_name(buffer)
  local here = kept[path]
  kept[path] = nil
  for _, each in ipairs(here or {}) do
    -- A line that the file no longer has is no reason to leave out the others.
    pcall(set, require('dap.breakpoints'), buffer, each.line, each)
  end
end

---The buffers with signs whose changes are heard.
---@type table<integer, boolean>
local watched = {}
local waits = false -- for the person, who types

---A text with signs has changed, and they with it. A key each is too often to compare a whole text.
local function text_changed()
  if waits or not next(require('dapeer.rpc').attached()) then
    return
  end
  waits = true
  -- Within the event much is forbidden.
  vim.schedule(function()
    require('dapeer.person.attention').when_typed(function()
      waits = false
      M.changed()
    end)
  end)
end

---@param buffer integer
local function watch(buffer)
  if not watched[buffer] and vim.api.nvim_buf_is_loaded(buffer) then
    watched[buffer] = vim.api.nvim_buf_attach(buffer, false, {
      on_lines = text_changed,
      on_reload = text_changed,
      on_detach = function()
        watched[buffer] = nil
      end,
    })
  end
end

local function push()
  pending = false
  for buffer in pairs(require('dap.breakpoints').get()) do
    watch(buffer)
  end
  local now = M.snapshot()
  if not vim.deep_equal(now, sent) then
    sent = now
    local rpc = require('dapeer.rpc')
    for _, core in ipairs(rpc.attached()) do
      rpc.send(core, 'breakpoints', now, applied[core.channel] or 0)
    end
  end
end

---Tell the cores soon, once for a burst of changes.
function M.changed()
  if not pending then
    pending = true
    vim.schedule(function()
      pcall(push)
    end)
  end
end

---Return the buffer of a file, loaded without a question and without a message.
---@param path string
---@return integer
local function buffer_of(path)
  local buffer = vim.fn.bufadd(path)
  require('dapeer.editor.loading').load(buffer)
  put_back(buffer)
  return buffer
end

---Whether the lines of a file in Neovim are not those on disk, which cores and programs count.
---@param path string
---@return boolean
local function unsaved(path)
  local buffer = vim.fn.bufnr(path)
  return buffer > 0 and vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].modified
end

---Which files have unsaved changes here.
---@param paths string[]
---@return string[]
function M.unsaved(paths)
  return vim.tbl_filter(unsaved, paths)
end

---@param breakpoints table nvim-dap's own
---@param buffer integer
---@param change { line: integer, breakpoint?: table }
local function place(breakpoints, buffer, change)
  local breakpoint = change.breakpoint
  if breakpoint then
    set(breakpoints, buffer, change.line, breakpoint)
  else
    local lines = require('dapeer.editor.lines')
    local line = lines.in_buffer(lines.changed(buffer), change.line)
    breakpoints.remove(buffer, line or change.line)
  end
end

---Apply a core's changes: set the breakpoint on a line, or remove it where `breakpoint` is missing.
---@param changes { path: string, line: integer, breakpoint?: table, edited?: boolean }[] edited: a session here has loaded
---other lines
---@param channel integer the core's
---@param number integer the core's number of this change; the next picture confirms it
function M.apply(changes, channel, number)
  applied[channel] = number
  -- It defines the signs, and with it comes what watches them.
  if not pcall(require, 'dap') then
    return require('dapeer.rpc').send({ channel = channel }, 'not_applied', number)
  end
  for _, change in ipairs(changes) do
    if change.breakpoint and unsaved(change.path) then
      -- nvim-dap would send all lines of the buffer to the programs, where they are other lines.
      return require('dapeer.rpc').send({ channel = channel }, 'not_applied', number, change.path)
    end
  end
  local breakpoints = require('dap.breakpoints')
  local touched = {}
  for _, change in ipairs(changes) do
    local buffer = buffer_of(change.path)
    -- nvim-dap would send the lines of the buffer to programs that have loaded others; the core sends those.
    touched[buffer] = not (change.edited or unsaved(change.path)) or nil
    -- A line that the file no longer has is no reason to leave out the others.
    pcall(place, breakpoints, buffer, change)
  end
  -- The core that asked gets a picture even if nothing has changed.
  sent = nil
  M.changed()
  for buffer in pairs(touched) do
    local now = breakpoints.get(buffer)[buffer] or {}
    for _, session in ipairs(require('dapeer.nvim_dap.sessions').all()) do
      session:set_breakpoints({ [buffer] = now })
    end
  end
end

---Watch what the person does with breakpoints; nvim-dap has no event for it.
function M.install()
  require('dapeer.nvim_dap.internals').on_breakpoints(function(how)
    if how == 'clear' then
      kept = {}
    end
    M.changed()
  end)
  -- Signs move with the text; a file that was written is what the debugger reads.
  local group = vim.api.nvim_create_augroup('dapeer.breakpoints', {})
  vim.api.nvim_create_autocmd('BufUnload', {
    group = group,
    callback = function(event)
      pcall(keep, event.buf)
    end,
  })
  -- Of a buffer that is wiped nvim-dap takes them from its program, too.
  vim.api.nvim_create_autocmd('BufWipeout', {
    group = group,
    callback = function(event)
      local path = vim.api.nvim_buf_get_name(event.buf)
      if kept[path] then
        kept[path] = nil
        M.changed()
      end
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufFilePost' }, {
    group = group,
    callback = function(event)
      pcall(put_back, event.buf)
    end,
  })
  vim.api.nvim_create_autocmd('BufWritePost', {
    group = group,
    callback = function(event)
      if watched[event.buf] and next(require('dapeer.rpc').attached()) then
        M.changed()
      end
    end,
  })
  for buffer in pairs(require('dap.breakpoints').get()) do
    watch(buffer)
  end
  -- For cores that were there before nvim-dap.
  require('dapeer.rpc').notify('breakpoints_joined', M.snapshot())
end

return M
