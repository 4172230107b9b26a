-- The person's open files: which are changed, writing them, and what is selected.
local M = {}

local NOT_OPEN = 'Neovim has no such file open: %s.'

-- An open buffer only: asking about a file does not open it.
---@param filename? string
---@return integer? bufnr
---@return string? path      what was asked for, when it is not open
---@return string? problem
local function find(filename)
  local editor = require('dapeer.editor')
  local number = filename and filename:match('^%d+$') and tonumber(filename)
  if filename == nil or filename == '' or number then
    local bufnr, problem = editor.buffer(filename)
    return bufnr, nil, problem
  end
  local path = editor.absolute(filename)
  if require('dapeer.editor.secrets').covers(path) then
    return nil, nil, editor.refusal(path)
  end
  return require('dapeer.diff.files').buffers(path)[1], path
end

local function closed(path)
  local sentence = NOT_OPEN:format(path)
  return require('dapeer.results').result(sentence, { success = false, filePath = path, message = sentence })
end

-- The chosen buffer; nil: `cb` has got the reason why there is none.
---@return integer?
local function opened(cb, filename)
  local bufnr, path, problem = find(filename)
  if problem then
    cb(nil, problem)
  elseif not bufnr then
    cb(closed(path))
  end
  return bufnr
end

---@param cb fun(result: any, err?: string)
---@param filename? string
function M.check_dirty(cb, filename)
  local bufnr = opened(cb, filename)
  if not bufnr then
    return
  end
  local editor = require('dapeer.editor')
  local dirty = vim.bo[bufnr].modified
  local words = dirty and 'has unsaved changes' or 'has no unsaved changes'
  cb(require('dapeer.results').result(('%s %s.'):format(editor.name(bufnr), words), {
    success = true,
    filePath = editor.path(bufnr),
    isDirty = dirty,
    isUntitled = editor.path(bufnr) == '',
  }))
end

local function saved(bufnr, words)
  local editor = require('dapeer.editor')
  local sentence = ('%s %s.'):format(editor.name(bufnr), words)
  return require('dapeer.results').result(sentence, {
    success = true,
    filePath = editor.path(bufnr),
    saved = true,
    message = sentence,
  })
end

---@param cb fun(result: any, err?: string)
---@param filename? string
function M.save(cb, filename)
  local bufnr = opened(cb, filename)
  if not bufnr then
    return
  end
  local is_file = vim.bo[bufnr].buftype == '' and require('dapeer.editor').path(bufnr) ~= ''
  if is_file and not vim.bo[bufnr].modified then
    return cb(saved(bufnr, 'has nothing to save'))
  end
  local why = require('dapeer.editor.save').save(bufnr)
  if why then
    return cb(nil, why)
  end
  cb(saved(bufnr, 'is saved'))
end

return M
