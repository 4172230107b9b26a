-- The files that are open, in the form that IDEs give it.
local M = {}

local function listed()
  return vim.tbl_filter(function(bufnr)
    return vim.bo[bufnr].buflisted and require('dapeer.editor.windows').real(bufnr)
  end, vim.api.nvim_list_bufs())
end

local function tab(bufnr, active)
  local editor = require('dapeer.editor')
  local path = editor.path(bufnr)
  local is_active = bufnr == active
  local loaded = vim.api.nvim_buf_is_loaded(bufnr)
  return {
    uri = path ~= '' and vim.uri_from_bufnr(bufnr) or 'untitled:' .. bufnr,
    isActive = is_active,
    isPinned = false,
    isPreview = false,
    isDirty = vim.bo[bufnr].modified,
    label = path ~= '' and vim.fs.basename(path) or '[No Name]',
    groupIndex = 0,
    viewColumn = 1,
    isGroupActive = is_active,
    fileName = path,
    languageId = vim.bo[bufnr].filetype,
    lineCount = loaded and vim.api.nvim_buf_line_count(bufnr) or nil,
    isUntitled = path == '',
    selection = is_active and (require('dapeer.documents.selection').range(bufnr)) or nil,
  }
end

local function line(bufnr, active)
  local marks = (bufnr == active and ' (the person is here)' or '')
    .. (vim.bo[bufnr].modified and ' (unsaved changes)' or '')
  return require('dapeer.editor').name(bufnr) .. marks
end

---@param cb fun(result: any, err?: string)
---@param args { count: integer, start: integer }
function M.list(cb, args)
  local all, active = listed(), require('dapeer.editor.windows').current()
  local tabs, lines = {}, {}
  for _, bufnr in ipairs(vim.list_slice(all, args.start + 1, args.start + args.count)) do
    table.insert(tabs, tab(bufnr, active))
    table.insert(lines, line(bufnr, active))
  end
  if #all > args.start + #tabs then
    local more = '… %d more: start = %d.'
    table.insert(lines, more:format(#all - args.start - #tabs, args.start + #tabs))
  end
  local text = #all == 0 and 'No file is open.' or table.concat(lines, '\n')
  cb(require('dapeer.results').result(text, { tabs = tabs, start = args.start, total = #all }))
end

return M
