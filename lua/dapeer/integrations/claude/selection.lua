-- What Claude Code hears of the selection: once the person rests, never while they type.
local M = {}

local QUIET = 120 -- ms without a movement

local timer ---@type uv.uv_timer_t?
local last ---@type table?  what was selected
local newcomer = false -- somebody has come who has not heard it

-- What is selected, as VS Code's extension tells it; nil: nothing that may be told.
local function current()
  local editor = require('dapeer.editor')
  local bufnr = require('dapeer.editor.windows').current()
  local path = bufnr and editor.path(bufnr) or ''
  if not bufnr or path == '' or require('dapeer.editor.secrets').covers(path) then
    return nil
  end
  local selected
  require('dapeer.documents.selection').get(function(result)
    selected = result and result.structuredContent
  end, tostring(bufnr))
  if not selected then
    return nil
  end
  -- What was selected once is no selection any more.
  if not selected.active then
    local cursor = selected.selection['end']
    selected.selection = { start = cursor, ['end'] = cursor, isEmpty = true }
    selected.text = ''
  end
  return {
    text = selected.text,
    filePath = selected.filePath,
    fileUrl = selected.fileUrl,
    selection = selected.selection,
  }
end

-- Whether the person rests in a text: they neither type nor are elsewhere, as in the CLI's terminal.
local function resting()
  return vim.api.nvim_get_mode().mode:match('^[nvV\22]') ~= nil and vim.bo.buftype == ''
end

local function report()
  if require('dapeer.integrations.claude.state').connected == 0 then
    return
  end
  local selected
  if resting() then
    selected = current()
  elseif newcomer then
    selected = last or current()
  end
  if selected and (newcomer or not vim.deep_equal(selected, last)) then
    last = selected
    require('dapeer.rpc').notify('ide_event', 'selection_changed', selected)
  end
  newcomer = false
end

-- The person moves: what they rest at is told.
local function moved()
  timer = timer or assert(vim.uv.new_timer())
  timer:start(QUIET, 0, vim.schedule_wrap(report))
end

---@param group integer  of autocommands
function M.watch(group)
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'ModeChanged', 'BufEnter' }, { group = group, callback = moved })
end

---Tell it to somebody who has just come.
---@param alone boolean  nobody else is there, so what was selected before is old
function M.report_again(alone)
  newcomer = true
  if alone then
    last = nil
  end
  moved()
end

return M
