-- Reads the server's address from opencode.nvim, without loading it.
local M = {}

-- Its tables, in the versions that have them.
local function loaded(name)
  local module = package.loaded['opencode.' .. name]
  return type(module) == 'table' and module or nil
end

---@return boolean
function M.loaded()
  return loaded('state') ~= nil
end

---A value of its state; nil when it has none.
---@param key string
---@return any
local function value(key)
  local state = loaded('state')
  local ok, found = pcall(function()
    return state and state[key]
  end)
  return ok and found or nil
end

---Where its server listens; nil when there is none.
---@return string?
function M.url()
  local server = value('opencode_server')
  local url = type(server) == 'table' and server.url or nil
  return type(url) == 'string' and (url:gsub('/+$', '')) or nil
end

-- What a directory is called where the server runs, which may be a container.
local function there(directory)
  local util = loaded('util')
  local ok, mapped = pcall(function()
    return util and util.apply_path_map(directory)
  end)
  return ok and mapped or directory
end

---The directories in which it works, or will when it is opened: OpenCode knows of an MCP server in one only.
---@return string[]
function M.directories()
  local session = value('active_session')
  local found = {}
  for _, directory in pairs({
    current = value('current_cwd'),
    next = vim.fn.getcwd(),
    session = type(session) == 'table' and session.directory or nil,
  }) do
    if type(directory) == 'string' and directory ~= '' and not vim.tbl_contains(found, there(directory)) then
      found[#found + 1] = there(directory)
    end
  end
  return found
end

---How it proves who it is.
---@return table<string, string>
function M.headers()
  local ok, headers = pcall(function()
    return M.loaded() and require('opencode.auth').get_auth_headers()
  end)
  if ok and type(headers) == 'table' then
    return headers
  end
  local password = vim.env.OPENCODE_SERVER_PASSWORD
  if not password or password == '' then
    return {}
  end
  local user = vim.env.OPENCODE_SERVER_USERNAME or 'opencode'
  return { Authorization = 'Basic ' .. vim.base64.encode(user .. ':' .. password) }
end

---Call back when its server or its directory may be another. Versions before 2026 say it nowhere else.
---@param callback fun()
---@return boolean  whether it will; false when it is not loaded, or does not let us
function M.subscribe(callback)
  local state = loaded('state')
  local ok, subscribed = pcall(function()
    local subscribe = state.store and state.store.subscribe or state.subscribe
    subscribe('opencode_server', function(_, server)
      -- Its URL comes later, and changes nothing that one could subscribe to.
      pcall(function()
        server:get_spawn_promise():and_then(callback)
      end)
      callback()
    end)
    subscribe('current_cwd', callback)
    subscribe('active_session', callback)
    return true
  end)
  return ok and subscribed
end

return M
