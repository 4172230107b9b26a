-- The language servers that Neovim talks to: which serve a buffer, what they offer, what they are at.
local M = {}

-- Until 0.11 the methods of a client were closures.
local METHODS = vim.fn.has('nvim-0.11') == 1

---Call a method of a client.
---@param client vim.lsp.Client
---@param name string
---@return any ...
function M.call(client, name, ...)
  if METHODS then
    return client[name](client, ...)
  end
  return client[name](...)
end

---@param client vim.lsp.Client
---@return boolean
function M.stopped(client)
  return M.call(client, 'is_stopped')
end

---@param client vim.lsp.Client
---@param method string
---@param bufnr? integer
---@return boolean
function M.offers(client, method, bufnr)
  return M.call(client, 'supports_method', method, METHODS and bufnr or { bufnr = bufnr }) and true or false
end

---How a server can be asked for diagnostics, from its initial or registered capabilities.
---@param client vim.lsp.Client
---@return lsp.DiagnosticOptions?
function M.diagnosing(client)
  local registered = client.dynamic_capabilities.capabilities
  -- Neovim 0.12 keeps registrations by the name of the capability, older ones by the method.
  local found = registered.diagnosticProvider or registered['textDocument/diagnostic'] or {}
  local options = found[#found] and found[#found].registerOptions or client.server_capabilities.diagnosticProvider
  return type(options) == 'table' and options or nil
end

---What a server reports that it is doing.
---@param client vim.lsp.Client
---@return string[]
function M.busy(client)
  local titles = {}
  for _, title in pairs(client.progress and client.progress.pending or {}) do
    table.insert(titles, tostring(type(title) == 'table' and title.title or title))
  end
  table.sort(titles)
  return titles
end

---The clients that run, those that are starting included, by age.
---@param bufnr? integer  only those of this buffer
---@return vim.lsp.Client[]
function M.all(bufnr)
  local clients = vim.lsp.get_clients({ bufnr = bufnr, _uninitialized = true })
  clients = vim.tbl_filter(function(client)
    return not M.stopped(client)
  end, clients)
  table.sort(clients, function(one, other)
    return one.id < other.id
  end)
  return clients
end

---@param clients vim.lsp.Client[]
---@return string
function M.names(clients)
  return table.concat(
    vim.tbl_map(function(client)
      return client.name
    end, clients),
    ', '
  )
end

return M
