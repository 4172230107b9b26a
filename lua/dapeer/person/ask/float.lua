-- Floating windows of dapeer: they close themselves, and leave nothing behind.
local M = {}

local WIDEST = 80
local NARROWEST = 40

---@class dapeer.ask.Float
---@field window integer
---@field buffer integer
---@field group integer  of its autocommands
---@field over boolean

---Break a text into lines of some width, at spaces where there are any.
---@param text string
---@param width integer
---@return string[]
function M.wrapped(text, width)
  local lines = {}
  for _, paragraph in ipairs(vim.split(text, '\n', { plain = true })) do
    local line = ''
    for word in paragraph:gmatch('%S+') do
      word = require('dapeer.results.fitting').escaped(word)
      local longer = line == '' and word or line .. ' ' .. word
      if vim.fn.strdisplaywidth(longer) > width and line ~= '' then
        table.insert(lines, line)
        longer = word
      end
      while vim.fn.strdisplaywidth(longer) > width do
        local head = vim.fn.strcharpart(longer, 0, math.max(math.floor(width / 2), 1))
        table.insert(lines, head)
        longer = longer:sub(#head + 1)
      end
      line = longer
    end
    table.insert(lines, line)
  end
  return lines
end

---The width that a text gets.
---@return integer
function M.width()
  return math.max(math.min(vim.o.columns - 6, WIDEST), math.min(NARROWEST, vim.o.columns - 2))
end

-- In the middle, where a question is looked for; its last lines are scrolled to when there are too many.
local function place(height)
  local most = math.max(vim.o.lines - vim.o.cmdheight - 4, 1)
  local shown = math.min(height, most)
  return {
    relative = 'editor',
    width = M.width(),
    height = shown,
    row = math.max(math.floor((vim.o.lines - vim.o.cmdheight - shown) / 2) - 1, 0),
    col = math.max(math.floor((vim.o.columns - M.width()) / 2) - 1, 0),
  }
end

---@param float dapeer.ask.Float
local function forget(float)
  float.over = true
  pcall(vim.api.nvim_del_augroup_by_id, float.group)
end

---@param lines string[]
local function new_buffer(lines)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].undofile = false
  vim.bo[buffer].filetype = 'dapeer_ask'
  return buffer
end

---@param float dapeer.ask.Float
---@param closed fun()
local function watch(float, closed)
  vim.api.nvim_create_autocmd('WinClosed', {
    group = float.group,
    pattern = tostring(float.window),
    callback = function()
      if not float.over then
        forget(float)
        -- Within the event windows must not be closed.
        vim.schedule(closed)
      end
    end,
  })
end

---Show lines and put the cursor there.
---@param lines string[]
---@param options { title: string, footer: string, height?: integer, closed: fun() }  closed: the person closed it
---@return dapeer.ask.Float
function M.open(lines, options)
  local height = options.height or #lines
  local float = { over = false, buffer = new_buffer(lines) }
  float.group = vim.api.nvim_create_augroup('dapeer_ask_' .. float.buffer, { clear = true })
  float.window = vim.api.nvim_open_win(
    float.buffer,
    true,
    vim.tbl_extend('force', place(height), {
      style = 'minimal',
      border = 'rounded',
      title = (' %s '):format(options.title),
      footer = (' %s '):format(options.footer),
      zindex = 60,
    })
  )
  vim.wo[float.window].winfixbuf = true
  vim.wo[float.window].wrap = true
  watch(float, options.closed)
  vim.api.nvim_create_autocmd('VimResized', {
    group = float.group,
    callback = function()
      pcall(vim.api.nvim_win_set_config, float.window, place(height))
    end,
  })
  return float
end

---Close it, as if it had never been there.
---@param float dapeer.ask.Float
function M.close(float)
  if float.over then
    return
  end
  forget(float)
  pcall(vim.api.nvim_win_close, float.window, true)
  pcall(vim.api.nvim_buf_delete, float.buffer, { force = true })
end

---@param float dapeer.ask.Float
---@param title string
function M.retitle(float, title)
  pcall(vim.api.nvim_win_set_config, float.window, { title = (' %s '):format(title), footer = '' })
end

---@param float dapeer.ask.Float
---@param modes string|string[]
---@param keys string[]
---@param action fun()
function M.map(float, modes, keys, action)
  for _, key in ipairs(keys) do
    vim.keymap.set(modes, key, action, { buffer = float.buffer, nowait = true })
  end
end

return M
