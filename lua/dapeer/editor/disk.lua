-- Compares a buffer with its file, and reads the file again if another program has changed it.
local M = {}

M.LARGE = 1024 * 1024 -- bytes; smaller texts are read and compared whole
M.SEARCHED = 64 * M.LARGE -- bytes of a text in which others may be looked for
local HUGE = 16 * M.LARGE -- bytes; comparing such a text would hold Neovim up for seconds

---@param bufnr integer
---@return integer  bytes
function M.size(bufnr)
  return math.max(vim.api.nvim_buf_get_offset(bufnr, vim.api.nvim_buf_line_count(bufnr)), 0)
end

---@type table<integer, string>  by buffer: the file that had its text, and the stamp of then
local same = {}

local function stamp_of(stat)
  return ('%d.%d %d %d'):format(stat.mtime.sec, stat.mtime.nsec, stat.size, stat.ino)
end

local function state_of(bufnr, stat)
  return stamp_of(stat) .. ' ' .. vim.api.nvim_buf_get_name(bufnr)
end

---When a file or its name was changed last, in seconds since 1970; nil: there is none.
---@param path string
---@return number?
function M.changed_at(path)
  local stat = vim.uv.fs_stat(path)
  if not stat then
    return nil
  end
  return math.max(stat.mtime.sec + stat.mtime.nsec / 1e9, stat.ctime.sec + stat.ctime.nsec / 1e9)
end

---@type table<integer, number?>  by buffer: when its file had been changed last as Neovim read or wrote it
local versions = {}

---When the file of a buffer had been changed last as Neovim read or wrote it, in seconds since 1970; nil: unknown.
---@param bufnr integer
---@return number?
function M.read_at(bufnr)
  return versions[bufnr]
end

---Neovim has read or written a buffer's file right now. Of a large one that is kept, so that it need not be
---compared; the file may have changed since, but hardly ever to the same size.
---@param bufnr integer
function M.agrees(bufnr)
  local stat = vim.uv.fs_stat(vim.api.nvim_buf_get_name(bufnr))
  versions[bufnr] = M.changed_at(vim.api.nvim_buf_get_name(bufnr))
  local size = M.size(bufnr)
  same[bufnr] = stat and size > M.LARGE and stat.size == size and state_of(bufnr, stat) or nil
end

---Heed from now on what Neovim reads and writes; may be called again.
function M.watch()
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost' }, {
    group = vim.api.nvim_create_augroup('dapeer_disk', { clear = true }),
    desc = 'dapeer: which buffers are what their files are',
    callback = function(event)
      -- After `:write OTHER` the event names the other file.
      if event.match == vim.api.nvim_buf_get_name(event.buf) then
        M.agrees(event.buf)
      end
    end,
  })
end

---Without changes in the buffer Neovim reads the file anew, as it does when it gets the focus.
---@param bufnr integer
---@return boolean  whether a conflict with another program's change prevents it
function M.reread(bufnr)
  local reason
  -- With it Neovim calls this autocommand, and does not ask the person.
  local watcher = vim.api.nvim_create_autocmd('FileChangedShell', {
    buffer = bufnr,
    callback = function()
      reason = vim.v.fcs_reason
      vim.v.fcs_choice = ''
    end,
  })
  pcall(vim.cmd, 'silent checktime ' .. bufnr)
  pcall(vim.api.nvim_del_autocmd, watcher)
  local stands_against = reason == 'conflict' or reason == 'changed'
  if not stands_against and not vim.bo[bufnr].modified then
    M.agrees(bufnr)
  end
  return stands_against
end

-- What a buffer held when its file was read or written last, by the undo history of a copy. A history that
-- is cut off leads to another text: then saving is refused, which is the safe mistake.
---@param bufnr integer
---@return string[]
local function saved_lines(bufnr)
  if not vim.bo[bufnr].modified then
    return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  end
  local file = vim.fn.tempname()
  local copy = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(copy, 0, -1, false, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  pcall(vim.api.nvim_buf_call, bufnr, function()
    vim.cmd('silent wundo! ' .. file)
  end)
  pcall(vim.api.nvim_buf_call, copy, function()
    vim.cmd('silent rundo ' .. file)
    vim.cmd('silent earlier 1f')
  end)
  vim.uv.fs_unlink(file)
  local lines = vim.api.nvim_buf_get_lines(copy, 0, -1, false)
  vim.api.nvim_buf_delete(copy, { force = true })
  return lines
end

-- Ends of lines are not compared: they are options of a buffer, not text.
local function same_text(lines, bytes, bufnr)
  local encoding = vim.bo[bufnr].fileencoding
  if encoding ~= '' and encoding ~= 'utf-8' then
    bytes = vim.iconv(bytes, encoding, 'utf-8') or bytes
  end
  if vim.bo[bufnr].fileformat == 'mac' then
    bytes = bytes:gsub('[\r\n]', { ['\r'] = '\n', ['\n'] = '\r' })
  end
  local text = require('dapeer.editor.bytes').parse(bytes)
  local function plain(all)
    return (table.concat(all, '\n'):gsub('\r', ''))
  end
  return plain(text.lines) == plain(lines)
end

---@class dapeer.editor.Seen
---@field stamp string    of the file when it was looked at last
---@field overtaken boolean

---@type table<integer, dapeer.editor.Seen>
local seen = {}

---Whether the file has another text than Neovim read or wrote last. Neovim forgets a change that the person
---has been told of, and then asks when it writes; the text itself does not forget.
---@param bufnr integer
---@return boolean
function M.overtaken(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  local stat = vim.uv.fs_stat(path)
  local state = stat and state_of(bufnr, stat)
  if state and same[bufnr] == state then
    return false
  elseif stat and stat.size > HUGE then
    -- Where it was changed before we came, Neovim tells what it has not told the person yet.
    return same[bufnr] ~= nil or M.reread(bufnr)
  end
  local file = io.open(path, 'rb')
  if not file then
    return false
  end
  local bytes = file:read('*a')
  file:close()
  local differs = bytes ~= nil and not same_text(saved_lines(bufnr), bytes, bufnr)
  same[bufnr] = not differs and state or nil
  return differs
end

---Whether a line of a buffer is that of its file; true where the file cannot be read.
---@param bufnr integer
---@param line integer
---@return boolean
function M.has_line(bufnr, line)
  if not vim.bo[bufnr].modified and not M.overtaken(bufnr) then
    return true
  end
  local ok, lines = pcall(vim.fn.readfile, vim.api.nvim_buf_get_name(bufnr), '', line)
  if not ok then
    return true
  end
  local here = vim.api.nvim_buf_get_lines(bufnr, line - 1, line, false)
  return same_text(here, table.concat({ lines[line] }), bufnr) and #here == #vim.list_slice(lines, line, line)
end

-- What the person does at this time in the buffer would go wrong with another text, and looking at its
-- undo history would end a step of it.
local function in_hand(bufnr)
  return bufnr == vim.api.nvim_get_current_buf() and require('dapeer.person.attention').typing()
end

---@return boolean overtaken
local function look(bufnr)
  -- Without 'autoread' the person wants to be asked, by Neovim.
  local reads_again = vim.F.if_nil(vim.bo[bufnr].autoread, vim.go.autoread)
  if vim.bo[bufnr].modified or in_hand(bufnr) or not reads_again then
    return M.overtaken(bufnr)
  end
  return M.reread(bufnr)
end

---A buffer that was loaded right now.
---@param bufnr integer
function M.loaded(bufnr)
  local stat = vim.uv.fs_stat(vim.api.nvim_buf_get_name(bufnr))
  seen[bufnr] = stat and { stamp = stamp_of(stat), overtaken = false }
end

---Give a loaded buffer the text that its file has got meanwhile, when nothing stands against it.
---@param bufnr integer
---@return string? note  how the file differs nevertheless
function M.refresh(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  if path == '' or path:match('^%a[%w+.-]+://') or vim.bo[bufnr].buftype ~= '' then
    return nil
  end
  local stat = vim.uv.fs_stat(path)
  if not stat then
    seen[bufnr] = nil
    return 'not on the disk'
  end
  local stamp = stamp_of(stat)
  local known = seen[bufnr]
  if vim.bo[bufnr].modified and in_hand(bufnr) then
    return nil
  end
  -- What could not be read anew may be so now.
  if not known or known.stamp ~= stamp or (known.overtaken and not vim.bo[bufnr].modified) then
    known = { stamp = stamp, overtaken = stat.type == 'file' and look(bufnr) }
    seen[bufnr] = known
  end
  return known.overtaken and 'changed on the disk since Neovim read it' or nil
end

return M
