-- Changes of a server, made. Signs, marks and cursors stay on their text, each file gets one undo step, and
-- files without unsaved changes are saved.
local M = {}

local edits = require('dapeer.lsp.edits')
local task = require('dapeer.lsp.task')
local answer_text = require('dapeer.lsp.answer_text')

---@class dapeer.lsp.Outcome
---@field path string
---@field saved boolean
---@field why? string  it is not saved

---@param line integer  0-based
local function edit_of_line(old, new, line)
  local head, tail = require('dapeer.editor.text').common(old, new)
  return {
    range = {
      start = { line = line, character = head },
      ['end'] = { line = line, character = #old - tail },
    },
    newText = new:sub(head + 1, #new - tail),
  }
end

-- Where a hunk begins and ends, and what comes there. At the end of the file there is no line behind the
-- hunk, and Neovim would guess whether a line break is meant.
---@param old string[]
---@param line integer     0-based
---@param removed integer
---@param lines string[]   that come
---@return lsp.Position, lsp.Position, string
local function replacement(old, line, removed, lines)
  local text = table.concat(lines, '\n')
  if line + removed < #old then
    local last = { line = line + removed, character = 0 }
    return { line = line, character = 0 }, last, #lines == 0 and '' or text .. '\n'
  end
  local last = { line = #old - 1, character = #old[#old] }
  if removed == 0 then
    return last, last, '\n' .. text
  elseif #lines == 0 and line > 0 then
    return { line = line - 1, character = #old[line] }, last, ''
  end
  return { line = line, character = 0 }, last, text
end

---@param change dapeer.lsp.Change
---@param hunk { [1]: integer, [2]: integer, [3]: integer, [4]: integer }
---@param into lsp.TextEdit[]
local function edits_of_hunk(change, hunk, into)
  local first, removed, start, added = unpack(hunk)
  if removed == added then
    for index = 0, removed - 1 do
      local old, new = change.old.lines[first + index], change.new.lines[start + index]
      table.insert(into, edit_of_line(old, new, first + index - 1))
    end
    return
  end
  -- Of a hunk that only adds lines, `first` is the line before them.
  local line = removed == 0 and first or first - 1
  local lines = vim.list_slice(change.new.lines, start, start + added - 1)
  local from, to, text = replacement(change.old.lines, line, removed, lines)
  table.insert(into, { range = { start = from, ['end'] = to }, newText = text })
end

-- A server may replace a whole file to move one bracket. Made as it stands that would move every sign and
-- the person's cursor, so only what differs is replaced.
---@param change dapeer.lsp.Change
---@param bufnr integer
local function edit(change, bufnr)
  local minimal = {}
  for _, hunk in ipairs(edits.hunks(change.old.lines, change.new.lines)) do
    edits_of_hunk(change, hunk, minimal)
  end
  -- Ends the undo step of what was typed before.
  vim.bo[bufnr].undolevels = vim.bo[bufnr].undolevels
  local listed = vim.bo[bufnr].buflisted
  local restore = require('dapeer.editor.change').hold_selection(bufnr)
  vim.lsp.util.apply_text_edits(minimal, bufnr, 'utf-8')
  restore()
  vim.bo[bufnr].buflisted = listed
  if change.old.eol ~= change.new.eol then
    vim.bo[bufnr].eol = change.new.eol
  end
end

---@class dapeer.lsp.Prepared
---@field change dapeer.lsp.Change
---@field bufnr integer
---@field clean boolean  it had no unsaved changes

---@param change dapeer.lsp.Change
---@return dapeer.lsp.Prepared
local function prepared(change)
  local bufnr, problem = require('dapeer.editor').buffer(change.path, { create = true })
  if not bufnr then
    task.fail('Nothing was changed: ' .. problem)
  elseif not vim.bo[bufnr].modifiable then
    task.fail(('Nothing was changed: %s is not modifiable.'):format(answer_text.path(change.path)))
  elseif not vim.deep_equal(edits.text(bufnr), change.old) then
    task.fail(('%s has changed meanwhile. Ask again.'):format(answer_text.path(change.path)))
  end
  return { change = change, bufnr = bufnr, clean = not vim.bo[bufnr].modified }
end

---@param change dapeer.lsp.Change
---@return { change: dapeer.lsp.Change }
local function allowed(change)
  local bufnr = require('dapeer.lsp.sources').new():buffer(change.path)
  if change.kind == 'delete' and bufnr and vim.bo[bufnr].modified then
    task.fail(
      ('Nothing was changed: %s, which would be deleted, has unsaved changes.'):format(answer_text.path(change.path))
    )
  end
  return { change = change }
end

---Save a changed buffer, unless it had unsaved changes before.
---@param bufnr integer
---@param path string
---@param clean boolean  it had no unsaved changes before
---@param save boolean
---@return dapeer.lsp.Outcome
function M.outcome(bufnr, path, clean, save)
  local why
  if not save then
    why = '`save` is false'
  elseif not clean then
    why = 'the person had unsaved changes in it'
  else
    why = require('dapeer.editor.save').save(bufnr)
  end
  if why then
    vim.bo[bufnr].buflisted = true -- or nobody would find it
  end
  return { path = path, saved = why == nil, why = why }
end

---Within a task: make changes. All files are looked at before the first is touched.
---@param changes dapeer.lsp.Change[]  worked out
---@param save boolean
---@return dapeer.lsp.Outcome[]
function M.make(changes, save)
  local ready, outcomes = {}, {}
  for index, change in ipairs(changes) do
    ready[index] = change.kind == 'edit' and prepared(change) or allowed(change)
  end
  for _, each in ipairs(ready) do
    if each.change.kind == 'edit' then
      edit(each.change, each.bufnr)
    else
      -- Neovim's own means take the buffers of these files along.
      vim.lsp.util.apply_workspace_edit({ documentChanges = { each.change.operation } }, 'utf-8')
      table.insert(outcomes, { path = each.change.to or each.change.path, saved = true })
    end
  end
  for _, each in ipairs(ready) do
    if each.bufnr then
      table.insert(outcomes, M.outcome(each.bufnr, each.change.path, each.clean, save))
    end
  end
  return outcomes
end

---@param outcomes dapeer.lsp.Outcome[]
---@return string[]
function M.summary(outcomes)
  local saved, lines = 0, {}
  for _, each in ipairs(outcomes) do
    if each.saved then
      saved = saved + 1
    else
      table.insert(
        lines,
        ('Not saved: %s, because %s.'):format(answer_text.path(each.path), (each.why:gsub('%.$', '')))
      )
    end
  end
  if saved > 0 then
    table.insert(lines, 1, ('Saved %s. Undo in Neovim takes it back.'):format(answer_text.count(saved, 'file')))
  end
  return lines
end

return M
