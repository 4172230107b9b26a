-- A question with choices, in a window: the person picks one, marks several, or writes something else.
local M = {}

local float = require('dapeer.person.ask.float')

local OTHER = 'something else …'

---@class dapeer.ask.Row
---@field text string
---@field other? boolean   leads to a text
---@field line integer     its first line, 1-based
---@field marked boolean

---@param question dapeer.ask.Question
---@return dapeer.ask.Row[]
local function rows_of(question)
  local rows = vim.tbl_map(function(choice)
    return { text = choice, marked = false, line = 0 }
  end, question.choices)
  if question.other ~= false then
    table.insert(rows, { text = OTHER, other = true, marked = false, line = 0 })
  end
  return rows
end

local function sign(row, question)
  if not question.multiple or row.other then
    return ' '
  end
  return row.marked and '[x]' or '[ ]'
end

---@param question dapeer.ask.Question
---@param rows dapeer.ask.Row[]
---@return string[]
local function lines_of(question, rows)
  local width = float.width()
  local lines = float.wrapped(question.question, width)
  table.insert(lines, '')
  for index, row in ipairs(rows) do
    row.line = #lines + 1
    local head = ('%2d %s '):format(index, sign(row, question))
    for number, line in ipairs(float.wrapped(row.text, width - #head)) do
      table.insert(lines, (number == 1 and head or (' '):rep(#head)) .. line)
    end
  end
  return lines
end

---@class dapeer.ask.Choice
---@field float dapeer.ask.Float
---@field rows dapeer.ask.Row[]
---@field question dapeer.ask.Question
local Choice = {}
Choice.__index = Choice

function Choice:index()
  local line = vim.api.nvim_win_get_cursor(self.float.window)[1]
  local found = 1
  for index, row in ipairs(self.rows) do
    found = row.line <= line and index or found
  end
  return found
end

function Choice:go(index)
  index = (index - 1) % #self.rows + 1
  vim.api.nvim_win_set_cursor(self.float.window, { self.rows[index].line, 0 })
end

function Choice:draw()
  local buffer = self.float.buffer
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines_of(self.question, self.rows))
  vim.bo[buffer].modifiable = false
end

function Choice:mark(index)
  local row = self.rows[index]
  if row and self.question.multiple and not row.other then
    row.marked = not row.marked
    self:draw()
  end
  if row then
    self:go(index)
  end
end

---@return string|string[]|nil answer  nil: the person wants to write one
function Choice:picked()
  local row = self.rows[self:index()]
  if row.other then
    return nil
  elseif not self.question.multiple then
    return row.text
  end
  local marked = self:marked()
  return #marked > 0 and marked or { row.text }
end

---@return string[]
function Choice:marked()
  local marked = {}
  for _, row in ipairs(self.rows) do
    if row.marked then
      table.insert(marked, row.text)
    end
  end
  return marked
end

---@param choice dapeer.ask.Choice
local function map(choice, done)
  local window = choice.float
  local function step(by)
    return function()
      choice:go(choice:index() + by)
    end
  end
  float.map(window, 'n', { 'j', '<Down>', '<Tab>', '<C-n>' }, step(1))
  float.map(window, 'n', { 'k', '<Up>', '<S-Tab>', '<C-p>' }, step(-1))
  float.map(window, 'n', { '<Space>', 'x' }, function()
    choice:mark(choice:index())
  end)
  for index = 1, math.min(#choice.rows, 9) do
    float.map(window, 'n', { tostring(index) }, function()
      choice:mark(index)
    end)
  end
  float.map(window, 'n', { '<CR>', '<2-LeftMouse>' }, done.picked)
  float.map(window, 'n', { '<Esc>', 'q', '<C-c>' }, done.closed)
end

---@param question dapeer.ask.Question
---@param title string
---@param done { picked: fun(), closed: fun() }
---@return dapeer.ask.Choice
function M.open(question, title, done)
  local choice = setmetatable({ question = question, rows = rows_of(question) }, Choice)
  local keys = question.multiple and '1-9 <Space> mark · <CR> answer' or '1-9 j k go · <CR> answer'
  choice.float = float.open(lines_of(question, choice.rows), {
    title = title,
    footer = keys .. ' · <Esc> no answer',
    closed = done.closed,
  })
  vim.bo[choice.float.buffer].modifiable = false
  vim.wo[choice.float.window].cursorline = true
  choice:go(math.min(question.default or 1, #question.choices))
  map(choice, done)
  return choice
end

return M
