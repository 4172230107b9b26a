-- Where the person is: file, cursor, selection, what they see around it.
local M = {}

local editor = require('dapeer.editor')
local windows = require('dapeer.editor.windows')
local text = require('dapeer.editor.text')

local MOST_SELECTED = 200 -- lines of a selection

local MODES = {
  n = 'normal',
  i = 'insert',
  R = 'replace',
  v = 'visual',
  V = 'visual line',
  ['\22'] = 'visual block',
  s = 'select',
  S = 'select line',
  ['\19'] = 'select block',
  c = 'command line',
  t = 'terminal',
  r = 'prompt',
  ['!'] = 'shell',
}

-- How a region is selected, by the mode or by what `visualmode()` gives.
local KINDS = {
  v = 'characters',
  V = 'lines',
  ['\22'] = 'block',
  s = 'characters',
  S = 'lines',
  ['\19'] = 'block',
}

---@class dapeer.editor.Selection
---@field kind 'characters'|'lines'|'block'
---@field line integer        1-based, of its start
---@field column integer      1-based, in characters
---@field end_line integer
---@field end_column integer  its last character
---@field text string         bounded
---@field total integer       lines
---@field active boolean      false: what was selected last in this buffer

---@class dapeer.editor.Region  positions as getpos() gives them, in the order of the text
---@field first integer[]
---@field last integer[]     its last character
---@field kind 'v'|'V'|'\22' as `visualmode()` gives it
---@field active boolean     selected now

---@param from integer[]  as getpos() gives it
---@param to integer[]
---@param mode string
---@param active boolean
---@return dapeer.editor.Region
local function region(from, to, mode, active)
  if from[2] > to[2] or (from[2] == to[2] and from[3] > to[3]) then
    from, to = to, from
  end
  local kind = ({ characters = 'v', lines = 'V', block = '\22' })[KINDS[mode]]
  return { first = from, last = to, kind = kind, active = active }
end

-- What was selected last: a person selects, goes to the chat, and asks about it.
local function previous(bufnr)
  local from, to, mode = unpack(vim.api.nvim_buf_call(bufnr, function()
    return { vim.fn.getpos("'<"), vim.fn.getpos("'>"), vim.fn.visualmode() }
  end))
  if from[2] == 0 or to[2] == 0 or to[2] > vim.api.nvim_buf_line_count(bufnr) or not KINDS[mode] then
    return nil
  end
  -- Of whole lines the column is as large as can be.
  to[3] = math.min(to[3], math.max(#editor.line(bufnr, to[2]), 1))
  return region(from, to, mode, false)
end

---What is selected in a loaded buffer, or was last.
---@param bufnr integer
---@return dapeer.editor.Region?
function M.region(bufnr)
  local mode = vim.api.nvim_get_mode().mode:sub(1, 1)
  if bufnr == vim.api.nvim_get_current_buf() and KINDS[mode] then
    return region(vim.fn.getpos('v'), vim.fn.getpos('.'), mode, true)
  end
  return previous(bufnr)
end

---The lines of a region, or the pieces of them that belong to it.
---@param bufnr integer
---@param found dapeer.editor.Region
---@return string[]
function M.selected_lines(bufnr, found)
  local function within(place)
    return { bufnr, place[2], place[3], place[4] }
  end
  return vim.fn.getregion(within(found.first), within(found.last), { type = found.kind })
end

---@param bufnr integer
---@return dapeer.editor.Selection?
local function selection(bufnr)
  local found = M.region(bufnr)
  if not found then
    return nil
  end
  local first, last = found.first, found.last
  local lines = M.selected_lines(bufnr, found)
  local whole = found.kind == 'V'
  local shown = text.bounded(vim.list_slice(lines, 1, MOST_SELECTED))
  return {
    kind = KINDS[found.kind],
    line = first[2],
    column = whole and 1 or editor.character(bufnr, first[2], first[3] - 1),
    end_line = last[2],
    end_column = whole and math.max(vim.fn.strchars(lines[#lines] or ''), 1)
      or editor.character(bufnr, last[2], last[3] - 1),
    total = #lines,
    text = table.concat(shown, '\n'),
    active = found.active,
  }
end

---@param window integer
---@return string  the mode, or where the person is instead
local function whereabouts(window)
  local mode = vim.api.nvim_get_mode().mode
  if window == vim.api.nvim_get_current_win() then
    local name = mode:match('^no') and 'operator pending' or MODES[mode:sub(1, 1)] or mode
    return name .. ' mode'
  end
  local here = vim.api.nvim_get_current_buf()
  local what = vim.bo[here].filetype ~= '' and vim.bo[here].filetype or vim.bo[here].buftype
  return ('not there now: the person is in a %s window'):format(what ~= '' and what or 'floating')
end

---@param chosen dapeer.editor.Selection
local function selected(chosen)
  local what = chosen.active and 'Selected' or 'Selected last'
  local where = ('%d:%d-%d:%d'):format(chosen.line, chosen.column, chosen.end_line, chosen.end_column)
  local lines = vim.split(chosen.text, '\n', { plain = true })
  local more = chosen.total > #lines and { ('  (%d more lines)'):format(chosen.total - #lines) } or {}
  local indented = vim.tbl_map(function(line)
    return '  ' .. line
  end, lines)
  local head = ('%s (%s) %s:'):format(what, chosen.kind, where)
  return vim.iter({ head, indented, more }):flatten():totable()
end

---@param window integer
---@return table data
local function facts(window)
  local bufnr = vim.api.nvim_win_get_buf(window)
  local cursor = vim.api.nvim_win_get_cursor(window)
  local first, last, other = unpack(vim.api.nvim_win_call(window, function()
    return { vim.fn.line('w0'), vim.fn.line('w$'), vim.fn.bufnr('#') }
  end))
  return {
    file = editor.path(bufnr),
    bufnr = bufnr,
    line = cursor[1],
    column = editor.character(bufnr, cursor[1], cursor[2]),
    total = vim.api.nvim_buf_line_count(bufnr),
    filetype = vim.bo[bufnr].filetype,
    modified = vim.bo[bufnr].modified,
    focused = window == vim.api.nvim_get_current_win(),
    mode = vim.api.nvim_get_mode().mode,
    visible = { first = first, last = last },
    alternate = other > 0 and other ~= bufnr and editor.path(other) or nil,
  }
end

---@param data table
---@param window integer
local function head(data, window)
  local lines = {
    ('%s:%d:%d of %d lines%s'):format(
      editor.name(data.bufnr),
      data.line,
      data.column,
      data.total,
      data.modified and ', modified, not saved' or ''
    ),
    ('%s; lines %d-%d on screen'):format(whereabouts(window), data.visible.first, data.visible.last),
  }
  if data.alternate and data.alternate ~= '' then
    table.insert(lines, 'Alternate file: ' .. vim.fn.fnamemodify(data.alternate, ':.'))
  end
  return lines
end

---@param args { around?: integer }
---@return dapeer.Result
function M.context(args)
  local result = require('dapeer.results').result
  local window = windows.window()
  if not window then
    return result('The person has no file open in a window.', { open = false })
  end
  local data = facts(window)
  data.open = true
  local lines = head(data, window)
  if require('dapeer.editor.secrets').covers(data.file) then
    data.secret = true
    table.insert(lines, editor.refusal(data.file))
    return result(table.concat(lines, '\n'), data)
  end
  local around = args.around or 5
  local first = math.max(data.line - around, 1)
  local shown = text.bounded(editor.lines(data.bufnr, first, data.line + around))
  data.first, data.lines = first, shown
  table.insert(lines, text.numbered(first, shown, data.line))
  data.selection = selection(data.bufnr)
  if data.selection then
    vim.list_extend(lines, selected(data.selection))
  end
  return result(table.concat(lines, '\n'), data)
end

return M
