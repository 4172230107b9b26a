--- The signs of the lines at which assistants collect values: programs do not stop there.
local M = {}

---The name of the sign, and of its highlight group. A person may define both.
local NAME = 'DapeerCollects'
local GROUP = 'dapeer_collects'
local GLYPH = '≡'
local MOST = 3

---@class dapeer.CollectionPoint
---@field line integer       of the file on disk
---@field collect string[]   expressions

---What each core collects, by its channel and the file's real path.
---@type table<integer, table<string, dapeer.CollectionPoint[]>>
local cores = require('dapeer.kept').part('collecting')

---@param path string
---@return string
local function real(path)
  return vim.uv.fs_realpath(path) or path
end

local function define()
  vim.api.nvim_set_hl(0, NAME, { link = 'DiagnosticSignInfo', default = true })
  if vim.tbl_isempty(vim.fn.sign_getdefined(NAME)) then
    vim.fn.sign_define(NAME, { text = GLYPH, texthl = NAME })
  end
end

-- Anew, since lines on disk may be others by now.
---@param buffer integer
local function draw(buffer)
  if not vim.api.nvim_buf_is_loaded(buffer) or vim.bo[buffer].buftype ~= '' then
    return
  end
  vim.fn.sign_unplace(GROUP, { buffer = buffer })
  local path, lines = real(vim.api.nvim_buf_get_name(buffer)), require('dapeer.editor.lines')
  local hunks
  for _, files in pairs(cores) do
    for _, point in ipairs(files[path] or {}) do
      hunks = hunks or lines.changed(buffer) or {}
      local line = lines.in_buffer(hunks, point.line)
      if line then
        pcall(vim.fn.sign_place, 0, GROUP, NAME, buffer, { lnum = line, priority = 20 })
      end
    end
  end
end

---@param path? string  real
local function draw_all(path)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if not path or real(vim.api.nvim_buf_get_name(buffer)) == path then
      draw(buffer)
    end
  end
end

local function watch()
  local group = vim.api.nvim_create_augroup('dapeer.collecting', {})
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost' }, {
    group = group,
    callback = function(event)
      if next(cores) then
        draw(event.buf)
      end
    end,
  })
  vim.api.nvim_create_autocmd('User', {
    group = group,
    pattern = 'DapeerDetached',
    callback = function(event)
      if cores[event.data.channel] then
        cores[event.data.channel] = nil
        draw_all()
      end
    end,
  })
end

---Show where a core collects in a file; nowhere any longer, if there are no points.
---@param channel integer  the core's
---@param path string
---@param points dapeer.CollectionPoint[]
function M.show(channel, path, points)
  define()
  watch()
  path = real(path)
  local files = cores[channel] or {}
  files[path] = #points > 0 and points or nil
  cores[channel] = next(files) and files or nil
  draw_all(path)
end

---The cores that collect somewhere, by their channels.
---@return integer[]
function M.channels()
  return vim.tbl_keys(cores)
end

---Where assistants collect, and what; nil: nowhere.
---@return string?
function M.told()
  local places = {}
  for _, files in pairs(cores) do
    for path, points in pairs(files) do
      for _, point in ipairs(points) do
        local name = vim.fn.fnamemodify(path, ':t')
        table.insert(places, ('%s:%d (%s)'):format(name, point.line, table.concat(point.collect, ', ')))
      end
    end
  end
  if #places == 0 then
    return nil
  end
  table.sort(places)
  local more = #places > MOST and (' and %d more lines'):format(#places - MOST) or ''
  return 'the assistant collects at ' .. table.concat(vim.list_slice(places, 1, MOST), ', ') .. more
end

return M
