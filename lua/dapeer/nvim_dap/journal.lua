--- What is kept of a session's messages, for a core that joins later.
local M = {}

local commands = require('dapeer.nvim_dap.commands')

---Bytes that are kept.
local LARGEST = 2 * 1024 * 1024

---@class dapeer.Journal
---@field entries dapeer.Entry[]
---@field bytes integer
---@field stopped? dapeer.Entry the latest stop
---@field resumed? dapeer.Entry what ended a stop last: without it a program that runs would seem to be stopped

---@class dapeer.Entry
---@field frame string
---@field keep boolean a fact without which the rest means nothing

-- Facts of the whole session, by command or event; all else may be forgotten when there is too much of it.
local KEEP = {
  initialize = true,
  launch = true,
  attach = true,
  initialized = true,
  process = true,
  capabilities = true,
  setBreakpoints = true,
  setFunctionBreakpoints = true,
  setExceptionBreakpoints = true,
  exited = true,
  terminated = true,
}

---@return dapeer.Journal
function M.new()
  return { entries = {}, bytes = 0 }
end

---@param journal dapeer.Journal
local function forget(journal)
  local kept, bytes = {}, 0
  local room = journal.bytes - LARGEST / 2
  for _, entry in ipairs(journal.entries) do
    if room > 0 and not entry.keep and entry ~= journal.stopped and entry ~= journal.resumed then
      room = room - #entry.frame
    else
      kept[#kept + 1] = entry
      bytes = bytes + #entry.frame
    end
  end
  journal.entries, journal.bytes = kept, bytes
end

---Take note of a message. Legal in a luv callback.
---@param journal dapeer.Journal
---@param name string?  event or command
---@param text string  the message in its frame; one to the adapter begins with `o`
function M.add(journal, name, text)
  local entry = { frame = text, keep = KEEP[name] or false }
  table.insert(journal.entries, entry)
  journal.bytes = journal.bytes + #text
  if name == 'stopped' then
    journal.stopped = entry
  elseif name == 'continued' or (text:sub(1, 1) == 'o' and commands.RESUMES[name]) then
    journal.resumed = entry
  end
  if journal.bytes > LARGEST then
    forget(journal)
  end
end

---The messages in their frames, oldest first.
---@param journal dapeer.Journal
---@return string[]
function M.frames(journal)
  local frames = {}
  for _, entry in ipairs(journal.entries) do
    frames[#frames + 1] = entry.frame
  end
  return frames
end

return M
