-- Tells the cores that wait for Neovims of their project that this one is there. Each listens at a socket in the
-- user's own runtime folder (server/dapeer/mcp/rendezvous/knocks.py); what is said is where we listen. Who decides is the core.
local M = {}

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

-- In a luv callback.
---@param path string
---@param words string
local function knock_at(path, words)
  local pipe = assert(vim.uv.new_pipe())
  pipe:connect(path, function(problem)
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
  vim.uv.fs_scandir(doors, function(_, entries)
    if not entries or not is_own(doors, 'directory') then
      return
    end
    for name in
      function()
        return vim.uv.fs_scandir_next(entries)
      end
    do
      local path = doors .. '/' .. name
      if name:match('^awaits%-nvim%.%d+%.sock$') and is_own(path, 'socket') then
        knock_at(path, words)
      end
    end
  end)
end

return M
