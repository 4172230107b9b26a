-- What Claude Code hears of the selection: once the person rests, never while they type.
local M = {}

local QUIET = 120 -- ms without a movement

local timer ---@type uv.uv_timer_t?
local last ---@type table?  what was told
local newcomer = false -- somebody has come who has not heard it

-- What is selected, as VS Code's extension tells it; nil: nothing that may be told.
local function current()
  local editor = require('dapeer.editor')
  local bufnr = require('dapeer.editor.windows').current()
  local path = bufnr and editor.path(bufnr) or ''
  if not bufnr or path == '' or require('dapeer.editor.secrets').covers(path) then
    return nil
  end
  local told
  require('dapeer.documents.selection').get(function(result)
    told = result and result.structuredContent
  end, tostring(bufnr))
  if not told then
    return nil
  end
  -- What was selected once is no selection any more.
  if not told.active then
    local cursor = told.selection['end']
    told.selection = { start = cursor, ['end'] = cursor, isEmpty = true }
    told.text = ''
  end
  return { text = told.text, filePath = told.filePath, fileUrl = told.fileUrl, selection = told.selection }
end

-- Whether the person rests in a text: they neither type nor are elsewhere, as in the CLI's terminal.
local function resting()
  return vim.api.nvim_get_mode().mode:match('^[nvV\22]') ~= nil and vim.bo.buftype == ''
end

local function tell()
  if require('dapeer.integrations.claude.state').connected == 0 then
    return
  end
  local told
  if resting() then
    told = current()
  elseif newcomer then
    told = last or current()
  end
  if told and (newcomer or not vim.deep_equal(told, last)) then
    last = told
    require('dapeer.rpc').notify('ide_event', 'selection_changed', told)
  end
  newcomer = false
end

-- The person moves: what they rest at is told.
local function moved()
  timer = timer or assert(vim.uv.new_timer())
  timer:start(QUIET, 0, vim.schedule_wrap(tell))
end

---@param group integer  of autocommands
function M.watch(group)
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'ModeChanged', 'BufEnter' }, { group = group, callback = moved })
end

---Tell it to somebody who has just come.
---@param alone boolean  nobody else is there, so what was told before is old
function M.tell_again(alone)
  newcomer = true
  if alone then
    last = nil
  end
  moved()
end

return M
