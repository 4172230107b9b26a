-- The two texts of a diff: what may be shown, and what the person should know of it.
local M = {}

---@class dapeer.Sides
---@field old dapeer.Text
---@field new dapeer.Text
---@field notes string[]   a few words each, for the person
---@field from? string     the original, if it is another file

local WRITABLE = tonumber('222', 8) -- permissions of a file that anybody may write

local function refuse_binary(bytes, what)
  if bytes:find('\0', 1, true) then
    return ('%s is binary (it has a NUL byte): no diff of it can be reviewed.'):format(what)
  end
end

---Say what forbids a diff before anything is read.
---@param args dapeer.DiffArguments
---@param path string
---@return string?
function M.refusal(args, path)
  local editor = require('dapeer.editor')
  local old = args.old_file_path and editor.absolute(args.old_file_path) or path
  for _, one in ipairs({ path, old }) do
    if require('dapeer.editor.secrets').covers(one) then
      return editor.refusal(one)
    end
  end
  if vim.fn.isdirectory(path) == 1 then
    return ('%s cannot be reviewed: it is a directory.'):format(path)
  end
  if #args.new_file_contents > editor.LARGEST then
    return ('new_file_contents has %d MiB, too much to review.'):format(#args.new_file_contents / 1024 ^ 2)
  end
  return refuse_binary(args.new_file_contents, 'new_file_contents')
end

-- The person's text counts, if it is newer than the file.
---@return integer?
local function unsaved(path)
  return vim.iter(require('dapeer.diff.files').buffers(path)):find(function(buffer)
    return vim.bo[buffer].modified
  end)
end

local function is_utf8(bytes)
  local lpeg = vim.lpeg
  local more = lpeg.R('\128\191')
  local character = lpeg.R('\0\127')
    + lpeg.R('\194\223') * more
    + lpeg.R('\224\239') * more * more
    + lpeg.R('\240\244') * more * more * more
  return lpeg.match(character ^ 0 * -1, bytes) ~= nil
end

-- In the encoding of the proposal, or every line would differ.
local function as_utf8(bytes, path)
  if is_utf8(bytes) then
    return bytes
  end
  local buffer = require('dapeer.diff.files').buffers(path)[1]
  local encoding = buffer and vim.bo[buffer].fileencoding or ''
  encoding = (encoding == '' or encoding == 'utf-8') and 'latin1' or encoding
  return vim.iconv(bytes, encoding, 'utf-8') or bytes, encoding
end

---@param path string
---@param is_new boolean  it need not be there
---@param done fun(text?: dapeer.Text, note?: string, problem?: string)
local function original(path, is_new, done)
  local text = require('dapeer.editor.bytes')
  local buffer = unsaved(path)
  if buffer then
    return done(text.parse(text.bytes(buffer)), 'the original has unsaved changes')
  end
  require('dapeer.diff.files').read(path, require('dapeer.editor').LARGEST, function(bytes, problem)
    if problem then
      return done(nil, nil, ('%s cannot be reviewed: %s.'):format(path, problem))
    elseif not bytes and not is_new then
      return done(nil, nil, ('old_file_path: there is no file %s. Leave it out for a new file.'):format(path))
    elseif not bytes then
      return done(text.parse(''), 'new file')
    end
    local refusal = refuse_binary(bytes, path)
    if refusal then
      return done(nil, nil, refusal)
    end
    local decoded, encoding = as_utf8(bytes, path)
    done(text.parse(decoded), encoding and encoding .. ' → utf-8')
  end)
end

-- For its owner; an administrator may write all the same.
local function is_read_only(path)
  local found = vim.uv.fs_stat(path)
  return found ~= nil and (not vim.uv.fs_access(path, 'W') or bit.band(found.mode, WRITABLE) == 0)
end

---Get both sides.
---@param old_path string
---@param path string
---@param contents string
---@param done fun(sides?: dapeer.Sides, problem?: string)
function M.get(old_path, path, contents, done)
  local text = require('dapeer.editor.bytes')
  original(old_path, old_path == path, function(old, note, problem)
    if not old then
      return done(nil, problem)
    end
    local new = text.parse(contents)
    local notes = text.unseen(old, new)
    if note then
      table.insert(notes, 1, note)
    end
    local from = old_path ~= path and vim.fn.fnamemodify(old_path, ':.') or nil
    if from and not vim.uv.fs_stat(path) then
      table.insert(notes, 1, 'new file')
    end
    if is_read_only(path) then
      table.insert(notes, 'read-only file')
    elseif is_read_only(old_path) then
      table.insert(notes, 'read-only original')
    end
    done({ old = old, new = new, notes = notes, from = from })
  end)
end

return M
