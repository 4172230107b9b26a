-- Under which name a Neovim is known to an OpenCode server. Several Neovims may share one server in one directory;
-- of two that use one name, the first would lose its tools to the second, and the second when the first leaves.
local M = {}

local MOST = 9

-- Whether a process is there; one of another user is, too.
local function alive(pid)
  local ok, _, code = vim.uv.kill(pid, 0)
  return ok ~= nil or code ~= 'ESRCH'
end

-- A link that leads nowhere: it is made with its text or not at all, which a file is not.
---@return boolean  whether this process has it now
local function took(path)
  local own = vim.uv.os_getpid()
  for _ = 1, 2 do
    local made, _, code = vim.uv.fs_symlink(tostring(own), path)
    if made or code ~= 'EEXIST' then
      return true
    end
    local owner = tonumber(vim.uv.fs_readlink(path) or '')
    if owner == own then
      return true
    elseif owner and alive(owner) then
      return false
    end
    vim.uv.fs_unlink(path)
  end
  return false
end

---Take a name for a server and a directory, one that no other Neovim has.
---@param url string
---@param directory string
---@return string name
---@return string claim  for `release`
function M.take(url, directory)
  local folder = vim.fn.stdpath('state') .. '/dapeer/opencode'
  pcall(vim.fn.mkdir, folder, 'p', '0700')
  local start = folder .. '/' .. vim.fn.sha256(url .. '\n' .. directory):sub(1, 16)
  local name, path
  for number = 1, MOST do
    name = number == 1 and 'dapeer' or ('dapeer-%d'):format(number)
    path = ('%s-%d'):format(start, number)
    if took(path) then
      break
    end
  end
  return name, path
end

---Leave a name to others.
---@param claim string
function M.release(claim)
  if tonumber(vim.uv.fs_readlink(claim) or '') == vim.uv.os_getpid() then
    vim.uv.fs_unlink(claim)
  end
end

return M
