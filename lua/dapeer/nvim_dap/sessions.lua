--- The debug sessions of nvim-dap: who they are, and how each reaches the cores.
local M = {}

---Configurations of past sessions, by session id, so that they can be started again.
---@type table<number, table>
local configs = {}
local KEPT = 20

---All sessions, parents before their children.
---@return dap.Session[]
function M.all()
  local dap = package.loaded['dap']
  local found = {}
  local function add(sessions)
    for _, session in pairs(sessions) do
      found[#found + 1] = session
      add(session.children or {})
    end
  end
  if dap then
    add(dap.sessions())
  end
  table.sort(found, function(a, b)
    return a.id < b.id
  end)
  return found
end

---@param id integer
---@return dap.Session?
function M.find(id)
  for _, session in ipairs(M.all()) do
    if session.id == id then
      return session
    end
  end
end

---The facts about a session that a core gets before its messages. Legal in a luv callback.
---@param session dap.Session
---@return table
function M.facts(session)
  local config = session.config or {}
  configs[session.id] = config
  configs[session.id - KEPT] = nil
  local ok, launch, waited, filters = pcall(function()
    return require('dapeer.nvim_dap.launch').claim(session)
  end)
  return {
    session = session.id,
    name = tostring(config.name or ''),
    type = tostring(config.type or ''),
    request = tostring(config.request or ''),
    parent = session.parent and session.parent.id or nil,
    launch = ok and launch or nil,
    waited = ok and waited or nil,
    exception_filters = ok and filters or nil,
  }
end

---Start what a session debugged once more, in nvim-dap.
---@param id integer
---@return integer|table launch as `launch.run` returns it
function M.again(id)
  local config = configs[id]
  if not config then
    return { error = 'Neovim has forgotten what session ' .. id .. ' debugged.' }
  end
  return require('dapeer.nvim_dap.launch').run({ config = config })
end

return M
