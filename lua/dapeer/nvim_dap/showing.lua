--- How a stop is shown to a person who stays where they are: its sign, the windows that show its file, its terminal.
local M = {}

---Whether a window is one in which a person reads source, and nvim-dap may show another file.
---@param window integer
---@return boolean
function M.shows_source(window)
  local buffer = vim.api.nvim_win_get_buf(window)
  local fixed = vim.fn.exists('+winfixbuf') == 1 and vim.wo[window].winfixbuf
  local text = vim.bo[buffer].buftype == '' and require('dapeer.editor.windows').real(buffer)
  return (text or vim.b[buffer].dap_source_buf == true) and not fixed and not vim.wo[window].diff
end

---The buffer in which nvim-dap shows a source; nil: it shows none.
---@param source dap.Source?
---@param session dap.Session
---@return integer? buffer
function M.buffer_of(source, session)
  if source and (source.sourceReference or 0) ~= 0 then
    return vim.uri_to_bufnr(('dap-src://%d/%d/%s'):format(session.id, source.sourceReference, source.path or ''))
  elseif source and source.path then
    local is_uri = source.path:match('^[a-z]+://')
    return vim.uri_to_bufnr(is_uri and source.path or vim.uri_from_fname(source.path))
  end
end

-- The window that gets the file of a stop, as nvim-dap chooses it where 'switchbuf' is `uselast`.
---@param session dap.Session
---@return integer
local function window_of_stop(session)
  local buffer = vim.api.nvim_get_current_buf()
  local source = vim.bo[buffer].buftype == '' or vim.b[buffer].dap_source_buf == true
  local before = vim.fn.win_getid(vim.fn.winnr('#'))
  if source or vim.bo[buffer].filetype == session.filetype or before == 0 then
    return vim.api.nvim_get_current_win()
  end
  return before
end

---Whether nvim-dap can go to a frame, and nothing happens to the text that makes room for it.
---@param session dap.Session
---@param frame dap.StackFrame
---@return boolean
function M.has_room(session, frame)
  local window, buffer = window_of_stop(session), M.buffer_of(frame.source, session)
  return not buffer
    or vim.api.nvim_win_get_buf(window) == buffer
    or require('dapeer.editor.windows').replaceable(window)
end

---Go to a window in which nvim-dap can show a frame; where it would harm the text that makes room, to another that shows
---the file, or to a new one.
---@param session dap.Session
---@param frame dap.StackFrame
function M.make_room(session, frame)
  local buffer = M.buffer_of(frame.source, session)
  if not buffer or M.has_room(session, frame) then
    return
  end
  local window = vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(window)
    return vim.api.nvim_win_get_buf(window) == buffer
  end)
  if window then
    vim.api.nvim_set_current_win(window)
  else
    require('dapeer.editor.loading').quietly(function()
      vim.api.nvim_open_win(buffer, true, { split = 'above' })
    end)
  end
end

-- nvim-dap moves one window, too. The others are where the person has put them.
---@param buffer integer
---@param before integer?  the line of the stop before
---@return integer?
local function follows(buffer, before)
  local windows = vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_buf(window) == buffer and not vim.wo[window].diff
  end, vim.api.nvim_tabpage_list_wins(0))
  local window = #windows == 1 and windows[1]
    or vim.iter(windows):find(function(window)
      return vim.api.nvim_win_get_cursor(window)[1] == before
    end)
  return window ~= vim.api.nvim_get_current_win() and window or nil
end

---Scroll the window in which the person reads along.
---@param buffer integer
---@param frame dap.StackFrame
---@param before integer?
local function scroll(buffer, frame, before)
  local window = require('dapeer.config').get().follow ~= 'sign' and follows(buffer, before)
  local place = { frame.line, math.max((frame.column or 1) - 1, 0) }
  if window and pcall(vim.api.nvim_win_set_cursor, window, place) then
    vim.api.nvim_win_call(window, function()
      vim.cmd('silent! ' .. frame.line .. 'foldopen!')
    end)
  end
end

---Place nvim-dap's sign of a stop, and no second one.
---@param session dap.Session
---@param frame dap.StackFrame
function M.place_sign(session, frame)
  local buffer, group = M.buffer_of(frame.source, session), session.sign_group
  if buffer and vim.api.nvim_buf_is_loaded(buffer) then
    pcall(vim.fn.sign_unplace, group)
    pcall(vim.fn.sign_place, 0, group, 'DapStopped', buffer, { lnum = frame.line, priority = 22 })
  end
end

---Show a stop as nvim-dap does, except that the person stays where they are.
---@param session dap.Session
---@param body table  of the event
---@param frame dap.StackFrame
---@param before integer?  the line of the stop before
function M.show(session, body, frame, before)
  local buffer = M.buffer_of(frame.source, session)
  if not buffer or frame.line < 1 then
    return
  end
  require('dapeer.editor.loading').load(buffer)
  vim.bo[buffer].buflisted = true
  M.place_sign(session, frame)
  scroll(buffer, frame, before)
  if body.reason == 'exception' then
    require('dapeer.nvim_dap.internals').frames.show_exception(session, body.threadId, buffer, frame)
  end
end

---Show the terminal of a program without going there.
---@param buffer integer
function M.open_terminal(buffer)
  if vim.api.nvim_buf_is_valid(buffer) and #vim.fn.win_findbuf(buffer) == 0 then
    vim.api.nvim_open_win(buffer, false, { split = 'below', win = -1 })
  end
end

return M
