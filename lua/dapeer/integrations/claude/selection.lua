-- What Claude Code hears of the selection: once the person rests, never while they type.
local M = {}

local QUIET = 120 -- ms without a movement

local timer ---@type uv.uv_timer_t?
local last ---@type string?  what was told, as JSON

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

local function tell()
  if require('dapeer.integrations.claude.state').connected == 0 then
    return
  end
  local mode = vim.api.nvim_get_mode().mode
  if not mode:match('^[nvV\22]') or vim.bo.buftype ~= '' then
    return
  end
  local told = current()
  local text = told and vim.json.encode(told)
  if text and text ~= last then
    last = text
    require('dapeer.rpc').notify('ide_event', 'selection_changed', told)
  end
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

---Tell it to somebody who has not heard it.
function M.tell_again()
  last = nil
  moved()
end

return M
