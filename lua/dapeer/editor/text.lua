-- Lines as a model reads them: numbered as dap_source does, bounded, with what has changed.
local M = {}

M.WIDEST = 1000 -- characters of a line
M.LONGEST = 32000 -- bytes of the lines of a result

---@param text string
---@param most integer  characters
---@return string
function M.short(text, most)
  -- Zero bytes are newlines in Neovim's lines.
  local shown = text:gsub('\n', '\0'):gsub('%z', '^@')
  return require('dapeer.results.fitting').shortened(shown, most)
end

---A line with its number; an arrow marks the one that matters.
---@param number integer
---@param line string
---@param width integer    of the number
---@param mark? integer    the line that matters
---@return string
function M.numbered_line(number, line, width, mark)
  local text = ('%s %' .. width .. 'd %s'):format(number == mark and '→' or ' ', number, line)
  return (text:gsub('%s+$', ''))
end

---@param first integer
---@param lines string[]
---@param mark? integer
---@return string
function M.numbered(first, lines, mark)
  local width = #tostring(first + #lines - 1)
  local numbered = {}
  for index, line in ipairs(lines) do
    numbered[index] = M.numbered_line(first + index - 1, line, width, mark)
  end
  return table.concat(numbered, '\n')
end

---The lines that fit into a result; at least one.
---@param lines string[]
---@return string[]
function M.bounded(lines)
  local fitting, bytes = {}, 0
  for index, line in ipairs(lines) do
    line = M.short(line, M.WIDEST)
    bytes = bytes + #line
    if bytes > M.LONGEST and index > 1 then
      break
    end
    fitting[index] = line
  end
  return fitting
end

---The part of a list that was asked for, and what is said of the rest.
---@generic T
---@param items T[]
---@param args { start?: integer, count?: integer }
---@return T[] part
---@return string? clause  what was left out, and how to get it
function M.part(items, args)
  local start, count = args.start or 0, args.count or 100
  local part = vim.list_slice(items, start + 1, start + count)
  if #part == #items then
    return part
  end
  local clause = ('%d of %d shown'):format(#part, #items)
  if start + #part < #items then
    return part, ('%s; start=%d gives more'):format(clause, start + #part)
  end
  return part, clause
end

---The same, as a line in brackets.
---@generic T
---@param items T[]
---@param args { start?: integer, count?: integer }
---@return T[] page
---@return string? note
function M.page(items, args)
  local page, clause = M.part(items, args)
  return page, clause and ('(%s)'):format(clause)
end

local function joined(lines)
  return #lines == 0 and '' or table.concat(lines, '\n') .. '\n'
end

local CONTEXT = 2 -- lines of a diff around what has changed

-- What both have at their start is most of a large file, and is left out of the comparison, but for some lines.
---@return string[] old
---@return string[] new
---@return integer skipped  lines at the start of both
local function differing(old, new)
  local most, head = math.min(#old, #new), 0
  while head < most and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  local tail = 0
  while tail < most - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  head, tail = math.max(head - CONTEXT, 0), math.max(tail - CONTEXT, 0)
  if head + tail == 0 then
    return old, new, 0
  end
  return vim.list_slice(old, head + 1, #old - tail), vim.list_slice(new, head + 1, #new - tail), head
end

-- Neovim 0.12 has moved it.
local function compare(old, new, options)
  return (vim.text and vim.text.diff or vim.diff)(joined(old), joined(new), options)
end

---What differs, as pieces of the old and of the new lines: first line and count of each.
---@param old string[]
---@param new string[]
---@return integer[][]
function M.hunks(old, new)
  local skipped
  old, new, skipped = differing(old, new)
  local hunks = compare(old, new, { result_type = 'indices', algorithm = 'histogram' })
  for _, hunk in ipairs(hunks) do
    hunk[1], hunk[3] = hunk[1] + skipped, hunk[3] + skipped
  end
  return hunks
end

-- A unified diff whose heads count from the start of the files.
---@param diff string
---@param skipped integer
local function shifted(diff, skipped)
  local lines = vim.split(diff, '\n', { trimempty = true })
  for index, line in ipairs(lines) do
    local from, old, to, new = line:match('^@@ %-(%d+)(,?%d*) %+(%d+)(,?%d*) @@')
    if from then
      lines[index] = ('@@ -%d%s +%d%s @@'):format(from + skipped, old, to + skipped, new)
    end
  end
  return lines
end

---How many bytes two lines have in common at their start, and after that at their end: whole characters.
---@param old string
---@param new string
---@return integer head
---@return integer tail
function M.common(old, new)
  local most = math.min(#old, #new)
  local head = 0
  while head < most and old:byte(head + 1) == new:byte(head + 1) do
    head = head + 1
  end
  while head > 0 and head < #old and vim.str_utf_start(old, head + 1) ~= 0 do
    head = head - 1
  end
  local tail = 0
  while tail < most - head and old:byte(#old - tail) == new:byte(#new - tail) do
    tail = tail + 1
  end
  while tail > 0 and vim.str_utf_start(old, #old - tail + 1) ~= 0 do
    tail = tail - 1
  end
  return head, tail
end

-- A buffer without text has one line nevertheless.
local function without_empty(lines)
  return #lines == 1 and lines[1] == '' and {} or lines
end

---@param counts { added: integer, removed: integer }
---@return string  such as `2 lines added, 1 removed`
function M.counted(counts)
  return ('%d %s added, %d removed'):format(counts.added, counts.added == 1 and 'line' or 'lines', counts.removed)
end

---What has changed, for a model and a program.
---@param old string[]
---@param new string[]
---@param from? integer  lines before both
---@return string diff  unified, bounded
---@return { added: integer, removed: integer } counts
function M.changes(old, new, from)
  local skipped
  old, new, skipped = differing(without_empty(old), without_empty(new))
  local counts = { added = 0, removed = 0 }
  for _, hunk in ipairs(M.hunks(old, new)) do
    counts.removed = counts.removed + hunk[2]
    counts.added = counts.added + hunk[4]
  end
  local diff = compare(old, new, { ctxlen = CONTEXT, algorithm = 'histogram' })
  local lines = shifted(diff, skipped + (from or 0))
  local shown = M.bounded(vim.list_slice(lines, 1, 120))
  if #shown < #lines then
    table.insert(shown, ('(%d more lines of the diff)'):format(#lines - #shown))
  end
  return table.concat(shown, '\n'), counts
end

return M
