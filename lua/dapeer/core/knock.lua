-- Tells cores where this Neovim listens: by a file in the user's own runtime folder, for those that start later
-- (server/dapeer/neovim/sockets.py), then at the socket there of each that waits for Neovims
-- (server/dapeer/mcp/rendezvous/announcement.py). A core opens its socket before it reads the files, so neither misses the other.
-- Which core attaches is decided by the core.
local M = {}

local OWNER_ONLY = tonumber('700', 8)
local OWNER_READS = tonumber('600', 8)
-- Bytes of a socket's path.
local LONGEST_PATH = 100

-- As `runtime_folder` of server/dapeer/mcp/rendezvous/announcement.py.
---@return string
local function folder()
  local session = vim.env.XDG_RUNTIME_DIR
  if session == nil or session == '' then
    session = '/run/user/' .. vim.uv.getuid()
    local found = vim.uv.fs_stat(session)
    session = found and found.type == 'directory' and session or nil
  end
  if session then
    return session .. '/dapeer'
  end
  local state = vim.env.XDG_STATE_HOME
  return (state and state ~= '' and state or vim.env.HOME .. '/.local/state') .. '/dapeer'
end

-- Of this user, and what it should be.
local function is_own(path, kind)
  local found = vim.uv.fs_lstat(path)
  return found ~= nil and found.type == kind and found.uid == vim.uv.getuid()
end

-- As `socket_name` of knocks.py: on Linux a path that is too long for a socket goes through a descriptor of its folder.
---@param path string
---@return string name
---@return integer? file  to close afterwards
local function socket_name(path)
  local file = #path > LONGEST_PATH and vim.uv.fs_open(vim.fs.dirname(path), 'r', 0)
  if file then
    return ('/proc/self/fd/%d/%s'):format(file, vim.fs.basename(path)), file
  end
  return path
end

-- In a luv callback.
---@param path string
---@param words string
local function knock_at(path, words)
  local pipe = assert(vim.uv.new_pipe())
  local name, file = socket_name(path)
  pipe:connect(name, function(problem)
    if file then
      vim.uv.fs_close(file)
    end
    if problem then
      pipe:close()
      if problem:match('^ECONNREFUSED') then
        -- Its core was killed.
        vim.uv.fs_unlink(path)
      end
      return
    end
    pipe:write(words, function()
      pipe:close()
    end)
  end)
end

-- Every core that waits. In a luv callback.
---@param doors string
---@param words string
local function knock_at_all(doors, words)
  vim.uv.fs_scandir(doors, function(_, entries)
    for name in
      function()
        return entries and vim.uv.fs_scandir_next(entries)
      end
    do
      local path = doors .. '/' .. name
      if name:match('^awaits%-nvim%.%d+%.sock$') and is_own(path, 'socket') then
        knock_at(path, words)
      end
    end
  end)
end

-- Whole or not at all: others read it at any time. In a luv callback.
---@param path string
---@param words string
---@param done fun()  also when it cannot be written
local function write(path, words, done)
  local unfinished = ('%s.%d'):format(path, vim.uv.os_getpid())
  vim.uv.fs_open(unfinished, 'w', OWNER_READS, function(_, file)
    if not file then
      return done()
    end
    vim.uv.fs_write(file, words, 0, function()
      vim.uv.fs_close(file, function()
        vim.uv.fs_rename(unfinished, path, done)
      end)
    end)
  end)
end

-- In a luv callback.
---@param path string
---@param done fun()  when the folder is there
local function with_folder(path, done)
  vim.uv.fs_mkdir(path, OWNER_ONLY, function(problem)
    if problem and problem:match('^ENOENT') then
      return vim.schedule(function()
        pcall(vim.fn.mkdir, path, 'p', OWNER_ONLY)
        done()
      end)
    end
    done()
  end)
end

---Say where this Neovim listens, once; one that listens nowhere says nothing. Returns before anything is done.
function M.knock()
  local state = require('dapeer.kept').part('knock')
  local address = vim.v.servername
  if state.done or address == '' then
    return
  end
  state.done = true
  -- `--listen ./here` leaves a name that means something else in every folder.
  address = address:find('/', 1, true) and vim.fn.fnamemodify(address, ':p') or address
  local words = vim.json.encode({ address = address, cwd = vim.fn.getcwd(-1, -1), pid = vim.uv.os_getpid() }) .. '\n'
  local doors = folder()
  local announcement = ('%s/neovim-%s.json'):format(doors, vim.fn.sha256(address):sub(1, 16))
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = vim.api.nvim_create_augroup('dapeer_announcement', { clear = true }),
    callback = function()
      vim.uv.fs_unlink(announcement)
    end,
  })
  with_folder(doors, function()
    if is_own(doors, 'directory') then
      write(announcement, words, function()
        knock_at_all(doors, words)
      end)
    end
  end)
end

return M
