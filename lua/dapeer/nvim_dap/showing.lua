--- How a stop is shown to a person who stays where they are: its sign, the windows that show its file, its terminal.
local M = {}

---Whether a window is one in which a person reads source, and nvim-dap may show another file.
---@param window integer
---@return boolean
function M.shows_source(window)
  local buffer = vim.api.nvim_win_get_buf(window)
  local fixed = vim.fn.exists('+winfixbuf') == 1 and vim.wo[window].winfixbuf
  local source = vim.bo[buffer].buftype == '' or vim.b[buffer].dap_source_buf == true
  return source and not fixed and not vim.wo[window].diff
end

---@param source dap.Source?
---@param session dap.Session
---@return integer? buffer
local function buffer_of(source, session)
  if source and (source.sourceReference or 0) ~= 0 then
    return vim.uri_to_bufnr(('dap-src://%d/%d/%s'):format(session.id, source.sourceReference, source.path or ''))
  elseif source and source.path then
    local is_uri = source.path:match('^[a-z]+://')
    return vim.uri_to_bufnr(is_uri and source.path or vim.uri_from_fname(source.path))
  end
end

---Scroll the other windows that show a buffer to a line.
---@param buffer integer
---@param line integer
---@param column integer
local function scroll(buffer, line, column)
  local own = vim.api.nvim_get_current_win()
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    if window ~= own and not vim.wo[window].diff then
      if pcall(vim.api.nvim_win_set_cursor, window, { line, math.max(column - 1, 0) }) then
        vim.api.nvim_win_call(window, function()
          vim.cmd('silent! ' .. line .. 'foldopen!')
        end)
      end
    end
  end
end

---Place nvim-dap's sign of a stop.
---@param session dap.Session
---@param buffer integer
---@param line integer
function M.place_sign(session, buffer, line)
  pcall(vim.fn.sign_place, 0, session.sign_group, 'DapStopped', buffer, { lnum = line, priority = 22 })
end

---Show a stop as nvim-dap does, except that the person stays where they are.
---@param session dap.Session
---@param body table  of the event
---@param frame dap.StackFrame
function M.show(session, body, frame)
  local buffer = buffer_of(frame.source, session)
  if not buffer or frame.line < 1 then
    return
  end
  require('dapeer.editor.loading').load(buffer)
  vim.bo[buffer].buflisted = true
  M.place_sign(session, buffer, frame.line)
  scroll(buffer, frame.line, frame.column or 1)
  if body.reason == 'exception' then
    require('dapeer.nvim_dap.internals').show_exception(session, body.threadId, buffer, frame)
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
