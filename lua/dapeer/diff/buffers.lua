-- The two buffers of a diff: the original and the proposal, coloured and indented like the file.
local M = {}

local LARGE = 1024 * 1024 -- bytes; no colours beyond

local function fill(buffer, side, text)
  vim.bo[buffer].modifiable = true
  require('dapeer.editor.bytes').fill(buffer, text)
  vim.bo[buffer].modifiable = side == 'proposed'
end

local function buffer_of(diff, side, text)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.b[buffer].dapeer_diff = diff.id
  vim.bo[buffer].bufhidden = 'hide' -- with 'nohidden', too, it can be left by `:q`
  fill(buffer, side, text)
  local name = ('dapeer://%s/%d/%s'):format(side, diff.id, diff.name:gsub('^/', ''))
  vim.api.nvim_buf_set_name(buffer, name)
  return buffer
end

-- How the person indents this file.
local INDENT = { 'expandtab', 'shiftwidth', 'softtabstop', 'tabstop', 'textwidth' }

local function indent_like(buffer, path)
  local model = require('dapeer.diff.files').buffers(path)[1]
  for _, name in ipairs(model and INDENT or {}) do
    vim.bo[buffer][name] = vim.bo[model][name]
  end
end

-- Not by 'filetype': no server and no linter has anything to say about these buffers.
local function colour(buffer, filetype)
  local highlighter = package.loaded['vim.treesitter.highlighter']
  local used = highlighter and next(highlighter.active) ~= nil
  local language = used and vim.treesitter.language.get_lang(filetype)
  if not (language and pcall(vim.treesitter.start, buffer, language)) then
    vim.bo[buffer].syntax = filetype
  end
end

local function colour_both(diff, view)
  if vim.api.nvim_buf_get_offset(view.right, vim.api.nvim_buf_line_count(view.right)) > LARGE then
    return
  end
  local filetype = vim.filetype.match({ filename = diff.file, buf = view.right })
  for _, buffer in ipairs(filetype and { view.left, view.right } or {}) do
    pcall(colour, buffer, filetype)
  end
end

-- `:e!` reads a buffer again: there is no file that it could come from.
local function read_again(diff, view, sides)
  local texts = { [view.left] = { 'original', sides.old }, [view.right] = { 'proposed', sides.new } }
  for buffer, text in pairs(texts) do
    vim.api.nvim_create_autocmd('BufReadCmd', {
      group = diff.group,
      buffer = buffer,
      callback = function()
        fill(buffer, unpack(text))
        colour_both(diff, view)
      end,
    })
  end
  -- Neovim takes what was read for saved; then comes this.
  vim.api.nvim_create_autocmd('BufEnter', {
    group = diff.group,
    buffer = view.right,
    callback = function()
      vim.bo[view.right].modified = diff.outcome == nil -- for `:x` and `:update`
    end,
  })
end

local function map(buffer, decide)
  local keys = {
    ZZ = { 'accept', 'dapeer: accept the proposal' },
    ZQ = { 'reject', 'dapeer: reject the proposal' },
  }
  for key, what in pairs(keys) do
    vim.keymap.set('n', key, function()
      decide(what[1])
    end, { buffer = buffer, desc = what[2], nowait = true })
  end
end

---Make the two buffers of a diff.
---@param diff dapeer.Diff
---@param sides dapeer.Sides
---@param decide fun(what: 'accept'|'reject')
---@return dapeer.View
function M.make(diff, sides, decide)
  local view = {
    left = buffer_of(diff, 'original', sides.old),
    right = buffer_of(diff, 'proposed', sides.new),
  }
  vim.bo[view.right].buftype = 'acwrite'
  vim.bo[view.right].modified = true
  indent_like(view.right, diff.file)
  colour_both(diff, view)
  map(view.left, decide)
  map(view.right, decide)
  read_again(diff, view, sides)
  return view
end

return M
