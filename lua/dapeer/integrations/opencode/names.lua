-- Under which name a Neovim is known to an OpenCode server. Several Neovims may share one server in one directory;
-- of two that use one name, the first would lose its tools to the second, and the second when the first leaves.
local M = {}

local MOST = 9

---@class dapeer.OpenCodeName
---@field name string
---@field directory string
---@field claim string  for `release`

local function folder()
  return vim.fn.stdpath('state') .. '/dapeer/opencode'
end

local function hash(text)
  return vim.fn.sha256(text):sub(1, 16)
end

local function called(number)
  return number == 1 and 'dapeer' or ('dapeer-%d'):format(number)
end

-- A process: its id, and its start time, since ids are reused. Only Linux has that in a file.
local function identity(pid)
  local file = io.open(('/proc/%d/stat'):format(pid))
  local told = file and file:read('*a') or ''
  if file then
    file:close()
  end
  local fields = vim.split(told:match('.*%) (.*)') or '', ' ')
  return ('%d.%s'):format(pid, fields[20] or '')
end

-- Whether a process is there; one of another user is, too.
local function alive(owner)
  local pid = tonumber(owner:match('^%d+'))
  local ok, _, code = vim.uv.kill(pid, 0)
  return (ok ~= nil or code ~= 'ESRCH') and identity(pid) == owner
end

---@return string? owner
---@return string directory
local function read(claim)
  local owner, directory = (vim.uv.fs_readlink(claim) or ''):match('^(%d+%.%d*) (.*)$')
  return owner, directory or ''
end

-- A link that leads nowhere: it is made with its text or not at all, which a file is not.
---@return boolean  whether this process has it now
local function took(claim, directory)
  local own = identity(vim.uv.os_getpid())
  for _ = 1, 2 do
    local made, _, code = vim.uv.fs_symlink(own .. ' ' .. directory, claim)
    if made or code ~= 'EEXIST' then
      return true
    end
    local owner = read(claim)
    if owner == own then
      return true
    elseif owner and alive(owner) then
      return false
    end
    vim.uv.fs_unlink(claim)
  end
  return false
end

---Take a name for a server and a directory, one that no other Neovim has.
---@param url string
---@param directory string
---@return dapeer.OpenCodeName
function M.take(url, directory)
  pcall(vim.fn.mkdir, folder(), 'p', '0700')
  local start, number = ('%s/%s-%s-'):format(folder(), hash(url), hash(directory)), 1
  while number < MOST and not took(start .. number, directory) do
    number = number + 1
  end
  return { name = called(number), directory = directory, claim = start .. number }
end

---Take the names at a server that a Neovim has left behind which was killed.
---@param url string
---@return dapeer.OpenCodeName[]
function M.abandoned(url)
  local found = {}
  for file in vim.fs.dir(folder()) do
    local claim, number = folder() .. '/' .. file, tonumber(file:match('%-(%d)$'))
    local owner, directory = read(claim)
    if owner and number and vim.startswith(file, hash(url)) and not alive(owner) and took(claim, directory) then
      found[#found + 1] = { name = called(number), directory = directory, claim = claim }
    end
  end
  return found
end

---Leave a name to others.
---@param claim string
function M.release(claim)
  if read(claim) == identity(vim.uv.os_getpid()) then
    vim.uv.fs_unlink(claim)
  end
end

return M
