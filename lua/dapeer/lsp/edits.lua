-- What a server wants to change, worked out without changing anything: the new text of each file, and the
-- difference. What is shown is what is applied.
local M = {}

local positions = require('dapeer.lsp.positions')
local task = require('dapeer.lsp.task')
local answer_text = require('dapeer.lsp.answer_text')

local LONGEST = 16000 -- bytes of all differences together
local FILES_SHOWN = 50

---@class dapeer.lsp.Text
---@field lines string[]
---@field eol boolean  a line break follows the last one

---@class dapeer.lsp.Change
---@field kind 'edit'|'create'|'rename'|'delete'
---@field path string
---@field edits? lsp.TextEdit[]
---@field version? integer       of the text that the edits are meant for
---@field operation? table       the protocol's own, for a whole file
---@field to? string             where it is renamed to
---@field old? dapeer.lsp.Text
---@field new? dapeer.lsp.Text
---@field diff? string
---@field added? integer
---@field removed? integer

---@param operation table
---@return dapeer.lsp.Change
local function of_file(operation)
  local uri = operation.uri or operation.oldUri
  return {
    kind = operation.kind,
    path = vim.uri_to_fname(uri),
    to = operation.newUri and vim.uri_to_fname(operation.newUri),
    operation = operation,
  }
end

---@param changes dapeer.lsp.Change[]
---@param uri string
---@param edits lsp.TextEdit[]
---@param version? integer
local function add(changes, uri, edits, version)
  local path = vim.uri_to_fname(uri)
  for _, change in ipairs(changes) do
    if change.kind == 'edit' and change.edits and change.path == path then
      vim.list_extend(change.edits, edits)
      return
    end
  end
  if #edits > 0 then
    local change = { kind = 'edit', path = path, edits = vim.list_slice(edits), version = version }
    table.insert(changes, change)
  end
end

---The changes of a WorkspaceEdit, file by file.
---@param edit? lsp.WorkspaceEdit
---@return dapeer.lsp.Change[]
function M.listed(edit)
  local changes = {}
  if edit and edit.documentChanges then
    for _, each in ipairs(edit.documentChanges) do
      if each.kind then
        table.insert(changes, of_file(each))
      else
        add(changes, each.textDocument.uri, each.edits, each.textDocument.version)
      end
    end
  else
    for uri, edits in vim.spairs(edit and edit.changes or {}) do
      add(changes, uri, edits)
    end
  end
  return changes
end

-- The byte of a position in a whole text; behind its end for what lies there.
---@param lines string[]
---@param starts integer[]  0-based byte of each line
---@param position lsp.Position
local function offset(lines, starts, position, encoding)
  local line = lines[position.line + 1]
  if not line then
    return starts[#lines] + #lines[#lines] + 1
  end
  return starts[position.line + 1] + positions.byte(line, position.character, encoding)
end

---@param lines string[]
---@param edits lsp.TextEdit[]
---@param encoding dapeer.lsp.Encoding
---@return { first: integer, last: integer, text: string, order: integer }[]
local function located(lines, edits, encoding)
  local starts, at = {}, 0
  for index, line in ipairs(lines) do
    starts[index] = at
    at = at + #line + 1
  end
  local found = {}
  for order, edit in ipairs(edits) do
    local first = offset(lines, starts, edit.range.start, encoding)
    local last = offset(lines, starts, edit.range['end'], encoding)
    table.insert(found, {
      first = math.min(first, last),
      last = math.max(first, last),
      text = (edit.newText:gsub('\r\n?', '\n')),
      order = order,
    })
  end
  table.sort(found, function(one, other)
    if one.first ~= other.first then
      return one.first < other.first
    elseif (one.last == one.first) ~= (other.last == other.first) then
      return one.last == one.first -- what is inserted stands before what is replaced
    end
    return one.order < other.order
  end)
  return found
end

---@param text dapeer.lsp.Text
---@return string
local function joined(text)
  return table.concat(text.lines, '\n') .. (text.eol and '\n' or '')
end

---A text after some edits.
---@param old dapeer.lsp.Text
---@param edits lsp.TextEdit[]
---@param encoding dapeer.lsp.Encoding
---@return dapeer.lsp.Text?
---@return string? problem
function M.applied(old, edits, encoding)
  local text, parts, at = joined(old), {}, 0
  for _, edit in ipairs(located(old.lines, edits, encoding)) do
    if edit.first < at then
      return nil, 'two of its edits overlap'
    end
    -- Neovim does not tell servers that it has written a line break behind the last line, as it does by
    -- default; so a formatter adds one that is there.
    if old.eol and edit.last == #text - 1 then
      edit.text = edit.text:gsub('\n$', '')
    end
    table.insert(parts, text:sub(at + 1, edit.first))
    table.insert(parts, edit.text)
    at = edit.last
  end
  table.insert(parts, text:sub(at + 1))
  local lines = vim.split(table.concat(parts), '\n', { plain = true })
  local eol = #lines > 1 and lines[#lines] == ''
  if eol then
    table.remove(lines)
  end
  return { lines = lines, eol = eol }
end

---@param one string
---@param other string
---@param options table
local function difference(one, other, options)
  -- Renamed in 0.12.
  local diff = vim.text and vim.text.diff or vim.diff
  return diff(one, other, options)
end

---The lines in which two texts differ.
---@param old string[]
---@param new string[]
---@return { [1]: integer, [2]: integer, [3]: integer, [4]: integer }[]  hunks  first and count in old, in new
function M.hunks(old, new)
  local options = { result_type = 'indices', algorithm = 'histogram' }
  return difference(table.concat(old, '\n') .. '\n', table.concat(new, '\n') .. '\n', options)
end

---@param bufnr integer
---@return dapeer.lsp.Text
function M.text(bufnr)
  return {
    lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false),
    eol = vim.bo[bufnr].eol,
  }
end

---@param change dapeer.lsp.Change
---@param load boolean  as a buffer, for a change that is made; to show it, the file will do
---@param sources dapeer.lsp.Sources
---@return dapeer.lsp.Text
local function current(change, load, sources)
  local bufnr = sources:buffer(change.path)
  if not bufnr and load then
    local problem
    bufnr, problem = require('dapeer.editor').buffer(change.path, { create = true })
    if not bufnr then
      task.fail('Nothing was changed: ' .. problem)
    end
  end
  if not bufnr then
    return sources.text(change.path)
  elseif (change.version or 0) > 0 and (vim.lsp.util.buf_versions[bufnr] or 0) > change.version then
    task.fail(('%s has changed meanwhile. Ask again.'):format(answer_text.path(change.path)))
  end
  return M.text(bufnr)
end

---@param change dapeer.lsp.Change
local function compare(change)
  change.added, change.removed = 0, 0
  for _, hunk in ipairs(M.hunks(change.old.lines, change.new.lines)) do
    change.removed = change.removed + hunk[2]
    change.added = change.added + hunk[4]
  end
  local options = { ctxlen = 1, algorithm = 'histogram' }
  change.diff = difference(joined(change.old), joined(change.new), options)
end

---Within a task: work out what changes do. Fails when one is impossible, before anything has changed.
---@param changes dapeer.lsp.Change[]
---@param encoding dapeer.lsp.Encoding
---@param load boolean  load the files
---@return dapeer.lsp.Change[]  without those that change nothing
function M.worked_out(changes, encoding, load)
  local sources = require('dapeer.lsp.sources').new()
  local real = {}
  for _, change in ipairs(changes) do
    if not sources:shown(change.path) then
      task.fail('Nothing was changed: ' .. require('dapeer.editor').refusal(change.path))
    end
    if change.kind == 'edit' then
      local problem
      change.old = current(change, load, sources)
      change.new, problem = M.applied(change.old, change.edits, encoding)
      if not change.new then
        task.fail(('Nothing was changed in %s: %s.'):format(answer_text.path(change.path), problem))
      end
      compare(change)
    end
    if change.kind ~= 'edit' or change.diff ~= '' then
      table.insert(real, change)
    end
  end
  return real
end

---@param change dapeer.lsp.Change
---@return string
local function head_of(change)
  local path = answer_text.path(change.path)
  if change.kind == 'edit' then
    return ('%s  +%d -%d'):format(path, change.added, change.removed)
  elseif change.kind == 'rename' then
    return ('%s  renamed to %s'):format(path, answer_text.path(change.to))
  end
  return ('%s  %s'):format(path, change.kind == 'create' and 'created' or 'deleted')
end

---The differences, as text and as data; long ones are cut.
---@param changes dapeer.lsp.Change[]
---@return string[] lines
---@return table[] files
function M.shown(changes)
  local lines, files, room = {}, {}, LONGEST
  for index, change in ipairs(changes) do
    if index > FILES_SHOWN then
      table.insert(lines, ('… and %s more.'):format(answer_text.count(#changes - FILES_SHOWN, 'file')))
      break
    end
    local diff = change.diff
      and require('dapeer.results.fitting').shortened(change.diff:gsub('\n$', ''), math.max(room, 0))
    room = room - #(diff or '')
    table.insert(lines, head_of(change))
    table.insert(lines, diff)
    table.insert(files, {
      path = change.path,
      change = change.kind,
      to = change.to,
      added = change.added,
      removed = change.removed,
      diff = diff,
    })
  end
  return lines, files
end

return M
