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

---@class dapeer.CollectingFunctions
---@field name string       as the assistant gave it
---@field collect string[]  expressions

---At which functions each core collects, by its channel. They have no sign: a program that has them says where.
---@type table<integer, dapeer.CollectingFunctions[]>
local functions = require('dapeer.kept').part('collecting_at')

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
      functions[event.data.channel] = nil
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

---Take in at which functions a core collects.
---@param channel integer  the core's
---@param named dapeer.CollectingFunctions[]
function M.at(channel, named)
  watch()
  functions[channel] = #named > 0 and named or nil
end

---The cores that collect somewhere, by their channels.
---@return integer[]
function M.channels()
  return vim.tbl_keys(vim.tbl_extend('keep', cores, functions))
end

---@param place string
---@param expressions string[]
---@return string
local function with(place, expressions)
  return #expressions > 0 and ('%s (%s)'):format(place, table.concat(expressions, ', ')) or place
end

---Where assistants collect, and what; nil: nowhere.
---@return string?
function M.summary()
  local places = {}
  for _, files in pairs(cores) do
    for path, points in pairs(files) do
      for _, point in ipairs(points) do
        local name = vim.fn.fnamemodify(path, ':t')
        table.insert(places, with(('%s:%d'):format(name, point.line), point.collect))
      end
    end
  end
  for _, named in pairs(functions) do
    for _, each in ipairs(named) do
      table.insert(places, with(each.name, each.collect))
    end
  end
  if #places == 0 then
    return nil
  end
  table.sort(places)
  local more = #places > MOST and (' and %d more places'):format(#places - MOST) or ''
  return 'the assistant collects at ' .. table.concat(vim.list_slice(places, 1, MOST), ', ') .. more
end

return M
