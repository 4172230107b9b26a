--- Child processes that an adapter offers at a port of its own (debugpy: `connect` in their configuration).
---
--- nvim-dap debugs a child with the adapter of its type. Where that is a program to start, a second one would be
--- started, which waits for the child for ever, and the child for it. So such a child is connected to where its
--- adapter says. Adapters that are functions, or servers, know what to do.
local M = {}

---The name by which nvim-dap finds where to connect, while it begins such a session.
local TYPE = 'dapeer.child'

---@param dap table
---@param session dap.Session
---@param config table
---@return boolean
local function would_wait(dap, session, config)
  local adapter = dap.adapters[config.type or session.config.type]
  local connect = config.connect
  return type(adapter) == 'table' and adapter.type == 'executable' and type(connect) == 'table' and connect.port ~= nil
end

---@param dap table
---@param handler function
---@return function
local function connecting(dap, handler)
  return function(session, request)
    local config = vim.tbl_get(request, 'arguments', 'configuration')
    if type(config) == 'table' and would_wait(dap, session, config) then
      local kind = config.type or session.config.type
      dap.adapters[TYPE] = function(give)
        config.type = kind
        give({ type = 'server', host = config.connect.host, port = tonumber(config.connect.port) })
      end
      config.type = TYPE
    end
    handler(session, request)
    dap.adapters[TYPE] = nil
  end
end

---@param dap table
function M.install(dap)
  dap.listeners.before.initialize['dapeer.children'] = function(session)
    require('dapeer.nvim_dap.internals').on_reverse_request(session, 'startDebugging', function(handler)
      return connecting(dap, handler)
    end)
  end
end

return M
