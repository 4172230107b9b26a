--- The text under the arrow of a stop, beside the text that the program has loaded.
---
--- A program loads files from the disk, and a person sees buffers. Where the disk still has what the program has loaded, a
--- buffer without unsaved changes is read again, as `:checktime` does. Else a note beside the arrow says that they differ.
local M = {}

local KEY = 'dapeer.source_text'
local UNSAVED = 'unsaved changes: the program runs another text'
local CHANGED = 'the file was changed after the program started: it may run another text'

local disk = require('dapeer.editor.disk')
local marks = vim.api.nvim_create_namespace('dapeer.source_text')

---When a session's program began to load its files, in seconds since 1970; none: it ran before, or nobody has seen that.
---@type table<dap.Session, number>
local began = setmetatable({}, { __mode = 'k' })

---The note of each session: its buffer, and its mark there.
---@type table<dap.Session, { buffer: integer, mark: integer }>
local notes = setmetatable({}, { __mode = 'k' })

---@param session dap.Session
local function clear(session)
  local note = notes[session]
  notes[session] = nil
  if note then
    pcall(vim.api.nvim_buf_del_extmark, note.buffer, marks, note.mark)
  end
end

---Read the buffers again whose files are newer, since a program loads its own now.
---@param session dap.Session
local function begin(session)
  local attaches = session.config and session.config.request == 'attach' and not session.parent
  local seconds, microseconds = vim.uv.gettimeofday()
  began[session] = not attaches and seconds + microseconds / 1e6 or nil
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and not vim.bo[buffer].modified then
      pcall(disk.refresh, buffer)
    end
  end
end

---The buffer of a frame, if it is that of a file, and loaded.
---@param session dap.Session
---@param frame dap.StackFrame?
---@return integer?
local function buffer_of(session, frame)
  local buffer = frame and require('dapeer.nvim_dap.showing').buffer_of(frame.source, session)
  local is_text = buffer and vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == ''
  return is_text and buffer or nil
end

---Whether the disk has what a session's program has loaded of a file; nil: nobody knows.
---@param session dap.Session
---@param buffer integer
---@return boolean?
local function is_on_disk(session, buffer)
  local changed = disk.changed_at(vim.api.nvim_buf_get_name(buffer))
  if not (changed and began[session]) then
    return nil
  end
  return changed <= began[session]
end

---Before nvim-dap shows a stop: read its buffer again where the disk has what the program has loaded.
---@param session dap.Session
---@param response table?
local function renew(session, response)
  local frame = require('dapeer.nvim_dap.internals').frames.top(response and response.stackFrames or {})
  local buffer = buffer_of(session, frame)
  if buffer and not vim.bo[buffer].modified and is_on_disk(session, buffer) then
    disk.refresh(buffer)
  end
end

---How the text at a stop may differ from what the program runs; nil: it does not, as far as can be known.
---@param session dap.Session
---@param buffer integer
---@param line integer
---@return string?
local function difference(session, buffer, line)
  if is_on_disk(session, buffer) == false then
    local read = disk.read_at(buffer)
    local is_newer = read ~= nil and read > began[session]
    return (is_newer or disk.overtaken(buffer)) and CHANGED or nil
  elseif disk.has_line(buffer, line) then
    return nil
  end
  return vim.bo[buffer].modified and UNSAVED or 'the file has another text on the disk'
end

---A stop is shown: note beside its arrow that the text differs.
---@param session dap.Session
---@param response table?
local function compare(session, response)
  local threads = session.threads --[[@as table?]] or {}
  local thread = threads[session.stopped_thread_id or 0]
  local frame = session.current_frame
  -- Others ask for stacks, too; this one is nvim-dap's own where it keeps the frames.
  if not (thread and response and thread.frames == response.stackFrames) then
    return
  end
  clear(session)
  local buffer = buffer_of(session, frame)
  local text = buffer and frame and difference(session, buffer, frame.line)
  if not (buffer and frame and text) then
    return
  end
  vim.api.nvim_set_hl(0, 'DapeerDiffers', { link = 'WarningMsg', default = true })
  local line = math.min(frame.line, vim.api.nvim_buf_line_count(buffer))
  local mark = vim.api.nvim_buf_set_extmark(buffer, marks, math.max(line - 1, 0), 0, {
    virt_text = { { ' ' .. text .. ' ', 'DapeerDiffers' } },
  })
  notes[session] = { buffer = buffer, mark = mark }
end

---@param dap table
function M.install(dap)
  local before, after = dap.listeners.before, dap.listeners.after
  before.event_initialized[KEY] = function(session)
    pcall(begin, session)
    session.on_close[KEY] = function()
      vim.schedule(function()
        clear(session)
      end)
    end
  end
  before.stackTrace[KEY] = function(session, _, response)
    pcall(renew, session, response)
  end
  after.stackTrace[KEY] = function(session, _, response)
    pcall(compare, session, response)
  end
  for command in pairs(require('dapeer.nvim_dap.commands').RESUMES) do
    before[command][KEY] = function(session, err)
      if not err then
        clear(session)
      end
    end
  end
  before.event_continued[KEY] = function(session)
    clear(session)
  end
end

return M
