-- The tool that changes a buffer: which lines, what is said of it, whether it is saved.
local M = {}

local change = require('dapeer.editor.change')
local disk = require('dapeer.editor.disk')
local editor = require('dapeer.editor')
local text = require('dapeer.editor.text')

---@class dapeer.editor.Edit
---@field filename? string
---@field text string
---@field line? integer
---@field end_line? integer
---@field old_text? string
---@field save? boolean

-- A last line that ends is not followed by an empty one. In a file of CRLF lines the buffer holds none of their CRs.
local function lines_of(given, bufnr)
  if vim.bo[bufnr].fileformat == 'dos' then
    given = given:gsub('\r\n', '\n')
  end
  given = given:gsub('\n$', '')
  return vim.split(given, '\n', { plain = true })
end

-- One empty line is a line, in a file.
local function without_lines(bufnr)
  return vim.api.nvim_buf_call(bufnr, function()
    return vim.fn.wordcount().bytes == 0
  end)
end

local AROUND = 3 -- lines that are looked at, with those that change, for the diff

---@class dapeer.editor.Part
---@field from integer   lines of the buffer before it
---@field old string[]
---@field new string[]
---@field whole boolean  it is all of the buffer

-- What is saved may be changed by others on the way, anywhere; that is looked for where the text is not large.
local function looks_everywhere(bufnr, edit)
  return edit.save and disk.size(bufnr) <= disk.LARGE
end

-- Lines of the buffer, from the first to the last one that change, and those around.
---@param first integer  lines of the buffer, 1-based
---@param last integer
local function around(bufnr, edit, first, last)
  local total = vim.api.nvim_buf_line_count(bufnr)
  if looks_everywhere(bufnr, edit) then
    return 0, total, total
  end
  return math.max(first - 1 - AROUND, 0), math.min(last + AROUND, total), total
end

-- Only the lines around: what it costs depends on the change and not on the buffer.
---@return dapeer.editor.Part? part
---@return string? problem
local function by_lines(bufnr, edit)
  local total = vim.api.nvim_buf_line_count(bufnr)
  if edit.line == 1 and edit.end_line == 0 and total == 1 and without_lines(bufnr) then
    -- Where there is no text yet, there is no line before which to insert.
    local new = edit.text == '' and {} or lines_of(edit.text, bufnr)
    return { from = 0, old = { '' }, new = new, whole = true }
  end
  local first = edit.line
  local last = edit.end_line or first
  if not first then
    return nil, '`end_line` needs `line`. Give both.'
  elseif first > total + 1 or last > total then
    return nil, ('%s has only %d lines. Look at it with nvim_buffer_read.'):format(editor.name(bufnr), total)
  elseif last < first - 1 then
    return nil, ('`end_line` must be at least %d: with line - 1 the text is inserted before `line`.'):format(first - 1)
  end
  local from, to = around(bufnr, edit, first, last)
  local old = vim.api.nvim_buf_get_lines(bufnr, from, to, false)
  local new = vim.list_slice(old, 1, first - 1 - from)
  -- No text is no line, rather than an empty one.
  vim.list_extend(new, edit.text == '' and {} or lines_of(edit.text, bufnr))
  vim.list_extend(new, old, last + 1 - from)
  return { from = from, old = old, new = new, whole = from == 0 and to == total }
end

-- Where a text begins, for each time it is there.
local function places(whole, part)
  local found, from = {}, 1
  while true do
    local at = whole:find(part, from, true)
    if not at then
      return found
    end
    table.insert(found, at)
    from = at + #part
  end
end

-- The last line of a file ends, too, as in the file.
---@param from integer  lines before it
---@param to integer    the last one
---@return string text
---@return string ending  of its last line
local function text_of(bufnr, from, to)
  local last = to == vim.api.nvim_buf_line_count(bufnr)
  local ending = (not last or vim.bo[bufnr].endofline) and '\n' or ''
  return table.concat(vim.api.nvim_buf_get_lines(bufnr, from, to, false), '\n') .. ending, ending
end

local function line_at(whole, at)
  local _, breaks = whole:sub(1, at - 1):gsub('\n', '')
  return breaks + 1
end

---@return dapeer.editor.Part? part
---@return string? problem
local function by_text(bufnr, edit)
  local name = editor.name(bufnr)
  if edit.line then
    return nil, 'Give either `old_text` or `line`, not both.'
  elseif edit.old_text == '' then
    return nil, '`old_text` is empty. Leave it out to replace the whole text, or give `line`.'
  elseif disk.size(bufnr) > disk.SEARCHED then
    return nil, ('%s is too large to search for `old_text`. Give `line`.'):format(name)
  end
  local part, given = edit.old_text, edit.text
  if vim.bo[bufnr].fileformat == 'dos' then
    part, given = part:gsub('\r\n', '\n'), given:gsub('\r\n', '\n')
  end
  local whole = text_of(bufnr, 0, vim.api.nvim_buf_line_count(bufnr))
  local found = places(whole, part)
  if #found == 0 then
    return nil,
      ('`old_text` is not in %s. Read it with nvim_buffer_read: the buffer may differ from the file.'):format(name)
  elseif #found > 1 then
    local lines = vim.tbl_map(function(at)
      return line_at(whole, at)
    end, vim.list_slice(found, 1, 10))
    return nil,
      ('`old_text` is %d times in %s, at lines %s. Give more of the text around it.'):format(
        #found,
        name,
        table.concat(lines, ', ')
      )
  end
  local first = line_at(whole, found[1])
  local from, to, total = around(bufnr, edit, first, first + select(2, part:gsub('\n', '')))
  local old, ending = text_of(bufnr, from, to)
  -- Behind the lines before, of which it may be the end.
  local at = assert(old:find(part, 1, true))
  local changed = old:sub(1, at - 1) .. given .. old:sub(at + #part)
  if ending ~= '' then
    changed = changed:gsub('\n$', '')
  end
  return {
    from = from,
    old = vim.api.nvim_buf_get_lines(bufnr, from, to, false),
    new = old == part and given == '' and {} or vim.split(changed, '\n', { plain = true }),
    whole = from == 0 and to == total,
  }
end

---@param edit dapeer.editor.Edit
---@return dapeer.editor.Part?
---@return string? problem
local function part_of(bufnr, edit)
  if edit.old_text then
    return by_text(bufnr, edit)
  elseif edit.line or edit.end_line then
    return by_lines(bufnr, edit)
  end
  local old = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local new = edit.text == '' and {} or lines_of(edit.text, bufnr)
  return { from = 0, old = old, new = new, whole = true }
end

-- Saves, and returns whether an autocommand has changed the text.
---@param bufnr integer
---@return boolean others
---@return string? problem
local function save(bufnr)
  local others, over = false, false
  vim.api.nvim_buf_attach(bufnr, false, {
    on_lines = function()
      others = true
      return over
    end,
  })
  local problem = require('dapeer.editor.save').save(bufnr)
  over = true
  return others, problem
end

---@param bufnr integer
---@param part dapeer.editor.Part
---@param saved boolean
---@param others? boolean  something else has changed the text when it was saved
---@return dapeer.Result
local function report(bufnr, part, saved, others)
  local last = part.whole and -1 or part.from + #part.new
  local new = vim.api.nvim_buf_get_lines(bufnr, part.from, last, false)
  local diff, counts = text.changes(part.old, new, part.from)
  local state = saved and 'saved' or vim.bo[bufnr].modified and 'not saved' or 'as on the disk'
  local head = ('%s: %s; %s.'):format(editor.name(bufnr), text.counted(counts), state)
  if others and not part.whole then
    head = head .. ' Something changed the text when it was saved; the diff shows the lines around yours only.'
  end
  local data = {
    file = editor.path(bufnr),
    bufnr = bufnr,
    added = counts.added,
    removed = counts.removed,
    saved = saved,
    modified = vim.bo[bufnr].modified,
    diff = diff,
  }
  return require('dapeer.results').result(diff == '' and head or head .. '\n' .. diff, data)
end

---@param edit dapeer.editor.Edit
---@return dapeer.Result?
---@return string? problem
function M.write(edit)
  local bufnr, problem = editor.buffer(edit.filename, { create = true })
  problem = problem or change.obstacle(bufnr) or require('dapeer.editor.save').stale(bufnr)
  if problem then
    return nil, problem
  end
  local part
  part, problem = part_of(bufnr, edit)
  if not part then
    return nil, problem
  end
  change.replace(bufnr, part)
  if not edit.save then
    -- An invisible change must not wait in a hidden buffer.
    vim.bo[bufnr].buflisted = vim.bo[bufnr].buflisted or vim.bo[bufnr].modified
    return report(bufnr, part, false)
  end
  local others
  others, problem = save(bufnr)
  if problem then
    vim.bo[bufnr].buflisted = true
    return nil, ('The text of %s is changed, but not saved: %s'):format(editor.name(bufnr), problem)
  end
  return report(bufnr, part, true, others)
end

return M
