-- Files beside their buffers: what is on the disk, which buffers show it, and how they get it.
local M = {}

local PATIENCE = 60 * 1000 -- ms in which an accepted text is expected on the disk
local QUIET = 100 -- ms after which a file that has another text is taken to be written

-- One name for a file that has several, before it is there, too.
local function real(path)
  local folder = vim.uv.fs_realpath(vim.fs.dirname(path))
  return vim.uv.fs_realpath(path) or (folder and vim.fs.joinpath(folder, vim.fs.basename(path))) or path
end

---The loaded buffers of a file; a file may have several names.
---@param path string
---@return integer[]
function M.buffers(path)
  path = real(path)
  return vim.tbl_filter(function(buffer)
    local name = vim.api.nvim_buf_get_name(buffer)
    return vim.api.nvim_buf_is_loaded(buffer)
      and vim.bo[buffer].buftype == ''
      and name ~= ''
      and (name == path or real(name) == path)
  end, vim.api.nvim_list_bufs())
end

local function read_open(descriptor, size, done)
  vim.uv.fs_read(descriptor, size, 0, function(problem, bytes)
    vim.uv.fs_close(descriptor, function()
      done(bytes, problem)
    end)
  end)
end

---Read a whole file without holding up Neovim. Legal in a luv callback.
---@param path string
---@param most integer  bytes
---@param done fun(bytes?: string, problem?: string)  both nil: there is no such file
function M.read(path, most, done)
  done = vim.schedule_wrap(done)
  -- Before it is opened: opening a pipe waits for its writer.
  vim.uv.fs_stat(path, function(_, stat)
    if not stat then
      return done()
    elseif stat.type ~= 'file' then
      return done(nil, 'it is a ' .. stat.type)
    elseif stat.size > most then
      return done(nil, ('it has %d MiB'):format(stat.size / 1024 / 1024))
    end
    vim.uv.fs_open(path, 'r', 0, function(problem, descriptor)
      if not descriptor then
        return done(nil, problem)
      end
      read_open(descriptor, stat.size, done)
    end)
  end)
end

-- A buffer of a file that was not there: Neovim would ask whether to load it.
local function read_first(buffer)
  vim.api.nvim_buf_call(buffer, function()
    vim.cmd('silent edit')
  end)
end

-- Keeps cursors, and leaves something to undo. With 'noautoread' Neovim would ask.
local function read_again(buffer)
  local answer = vim.api.nvim_create_autocmd('FileChangedShell', {
    buffer = buffer,
    callback = function()
      vim.v.fcs_choice = 'reload'
    end,
  })
  pcall(vim.cmd, 'silent checktime ' .. buffer)
  pcall(vim.api.nvim_del_autocmd, answer)
end

---Show what is on the disk in the buffers of a file that have no changes of their own; where the person types, later.
---@param path string
function M.refresh(path)
  local attention = require('dapeer.person.attention')
  for _, buffer in ipairs(M.buffers(path)) do
    if buffer == vim.api.nvim_get_current_buf() and attention.typing() then
      attention.when_typed(function()
        M.refresh(path)
      end)
      return
    end
    local empty = vim.api.nvim_buf_line_count(buffer) == 1 and vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1] == ''
    if not vim.bo[buffer].modified then
      pcall(empty and read_first or read_again, buffer)
    end
  end
end

---@type table<string, fun()>  by path: stops waiting
local expected = {}

---Refresh a file's buffers now. It is watched on: Claude Code closes a diff before it writes.
---@param path string
function M.settle(path)
  path = real(path)
  if expected[path] then
    M.refresh(path)
  end
end

-- The directory is watched: a file may be replaced by another, or not be there yet.
---@param path string
---@param changed fun()
---@param rested fun()  no change has followed the last one
---@return fun() stop
local function watch(path, changed, rested)
  local event, timer, quiet = assert(vim.uv.new_fs_event()), assert(vim.uv.new_timer()), assert(vim.uv.new_timer())
  local function stop()
    expected[path] = nil
    for _, handle in ipairs({ event, timer, quiet }) do
      if not handle:is_closing() then
        handle:close()
      end
    end
  end
  local name = vim.fs.basename(path)
  event:start(vim.fs.dirname(path), {}, function(_, which)
    if not which or which == name then
      changed()
      if not quiet:is_closing() then
        quiet:start(QUIET, 0, rested)
      end
    end
  end)
  timer:start(PATIENCE, 0, stop)
  return stop
end

---Somebody is about to write a file: refresh its buffers when it has these bytes, or when others have come to rest.
---@param path string
---@param bytes string
function M.expect(path, bytes)
  path = real(path)
  if expected[path] then
    expected[path]()
  end
  if #M.buffers(path) == 0 then
    return
  end
  local function look()
    local stat = vim.uv.fs_stat(path)
    if not stat or stat.size ~= #bytes then
      return
    end
    M.read(path, #bytes, function(found)
      if found == bytes and expected[path] then
        expected[path]()
        M.refresh(path)
      end
    end)
  end
  -- A formatter may write it, too. Half of a text would take the cursor along.
  expected[path] = watch(
    path,
    look,
    vim.schedule_wrap(function()
      M.settle(path)
    end)
  )
  look()
end

return M
