-- Lines at the top of the screen for who types, since 'showmode' covers a message: what waits for the person's
-- decision, which the status line tells at all times, and what is to be seen at once.
local M = {}

local attention = require('dapeer.person.attention')

---@class dapeer.Waiting
---@field sentence string
---@field visible boolean
---@field decision boolean  it waits for one
---@field over? fun()  stops waiting for the end of the typing

---@type dapeer.Waiting[]  oldest first
local entries = {}

---@type integer?
local window

local function close()
  if window then
    pcall(vim.api.nvim_win_close, window, true)
    window = nil
  end
end

---@param lines string[]
local function open(lines)
  local width = 1
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].bufhidden = 'wipe'
  window = vim.api.nvim_open_win(buffer, false, {
    relative = 'editor',
    anchor = 'NE',
    row = vim.o.showtabline > 0 and 1 or 0,
    col = vim.o.columns,
    width = math.min(width, vim.o.columns),
    height = math.min(#lines, vim.o.lines),
    style = 'minimal',
    focusable = false,
    noautocmd = true,
    zindex = 250,
  })
  vim.wo[window].winhighlight = 'NormalFloat:WarningMsg'
end

-- The status line of a person may say what waits.
local function draw_status()
  vim.cmd.redrawstatus({ bang = true })
end

local function draw()
  close()
  local lines = {}
  for _, entry in ipairs(entries) do
    if entry.visible then
      lines[#lines + 1] = ' ' .. attention.fitted(entry.sentence) .. ' '
    end
  end
  if #lines > 0 and pcall(open, lines) then
    -- In a command line or a terminal nothing else draws it.
    vim.cmd.redraw()
  end
end

---@param entry dapeer.Waiting
local function remove(entry)
  entries = vim.tbl_filter(function(other)
    return other ~= entry
  end, entries)
end

---Show a line until it is taken back.
---@param sentence string
---@return fun() done
function M.show(sentence)
  local entry = { sentence = sentence, visible = true, decision = false }
  table.insert(entries, entry)
  draw()
  return function()
    remove(entry)
    vim.schedule(draw)
  end
end

---Tell one line that is of interest now only: it goes to no history. In a terminal it stands at the top of the screen
---until the person has left it.
---@param sentence string
---@return fun() withdraw  it is of no interest any more
function M.mention(sentence)
  local function echo()
    vim.api.nvim_echo({ { attention.fitted(sentence) } }, false, {})
  end
  if vim.api.nvim_get_mode().mode ~= 't' then
    echo()
    return function() end
  end
  local hide = M.show(sentence)
  local cancel = attention.when_typed(function()
    hide()
    echo()
  end)
  return function()
    hide()
    cancel()
  end
end

---Tell the person that something waits for them.
---@param sentence string
---@return fun() done  it does not wait any more
function M.add(sentence)
  -- Not visible before it is known whether they type: other lines may be drawn until then.
  local line = require('dapeer.results.fitting').line(sentence)
  local entry = { sentence = line, visible = false, decision = true }
  local done = false
  table.insert(entries, entry)
  vim.schedule(function()
    draw_status()
    entry.visible = not done and attention.busy()
    if entry.visible then
      draw()
      entry.over = attention.when_free(function()
        entry.visible = false
        draw()
      end)
    end
  end)
  return function()
    done = true
    remove(entry)
    if entry.over then
      entry.over()
    end
    vim.schedule(function()
      draw()
      draw_status()
    end)
  end
end

---What waits for a decision, a sentence each.
---@return string[]
function M.list()
  local sentences = {}
  for _, entry in ipairs(entries) do
    if entry.decision then
      sentences[#sentences + 1] = entry.sentence
    end
  end
  return sentences
end

return M
