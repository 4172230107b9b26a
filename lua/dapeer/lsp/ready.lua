-- Finds the language servers that offer a method, and waits for starting ones.
local M = {}

local requests = require('dapeer.lsp.requests')
local servers = require('dapeer.lsp.servers')
local task = require('dapeer.lsp.task')

---@param bufnr? integer
---@param method? string
---@return vim.lsp.Client[] ready     that offer the method
---@return vim.lsp.Client[] starting  whose capabilities are not known yet
local function sorted_out(bufnr, method)
  local ready, starting = {}, {}
  for _, client in ipairs(servers.all(bufnr)) do
    if not client.initialized then
      table.insert(starting, client)
    elseif not method or servers.offers(client, method, bufnr) then
      table.insert(ready, client)
    end
  end
  return ready, starting
end

---@param bufnr integer
---@return boolean  whether a configuration of Neovim's own may be at it
local function neovim_looks(bufnr)
  local filetype = vim.bo[bufnr].filetype
  for name in pairs(vim.lsp._enabled_configs or {}) do
    local ok, config = pcall(function()
      local configs = vim.lsp.config ---@type table<string, vim.lsp.Config>
      return configs[name]
    end)
    local slow = ok and config and type(config.root_dir) == 'function'
    local served = slow and vim.tbl_contains(config.filetypes or { filetype }, filetype)
    local here = { bufnr = bufnr, name = name, _uninitialized = true }
    if served and #vim.lsp.get_clients(here) == 0 then
      return true
    end
  end
  return false
end

---@param bufnr integer
---@return boolean  whether nvim-lspconfig may be at it: it has an autocommand for each server
local function lspconfig_looks(bufnr)
  local events = { group = 'lspconfig', event = 'FileType', pattern = vim.bo[bufnr].filetype }
  local ok, found = pcall(vim.api.nvim_get_autocmds, events)
  return ok and #found > #vim.lsp.get_clients({ bufnr = bufnr, _uninitialized = true })
end

-- A configuration may look for a file's root in its own time, as those do that ask cargo or go: one of Neovim's, which
-- has them since 0.11, or of nvim-lspconfig, which Neovim 0.10 needs. The server is started then, and nobody is told
-- before that it will.
---@param bufnr integer
---@return boolean
local function looking(bufnr)
  return neovim_looks(bufnr) or lspconfig_looks(bufnr)
end

local ROOT_FOUND = 1500 -- milliseconds that looking for a root may take

-- Wait until no server is starting, but no longer than was asked.
---@param bufnr? integer
---@param question dapeer.lsp.Question
---@param opened? boolean  the buffer has just been loaded
local function started(bufnr, question, opened)
  local late = not opened
  local watch, stop_clock, stop_looking
  local function done()
    local _, starting = sorted_out(bufnr)
    return #starting == 0 and (late or not looking(bufnr))
  end
  if done() then
    return
  end
  task.await(function(resume)
    local function check()
      if done() then
        resume()
      end
    end
    stop_clock = task.later(question.timeout, resume)
    stop_looking = task.later(math.min(ROOT_FOUND, question.timeout), function()
      late = true
      check()
    end)
    question.ctx.on_cancel(resume)
    watch = vim.api.nvim_create_autocmd({ 'LspAttach', 'LspDetach' }, {
      desc = 'dapeer: wait for a language server',
      -- Neovim knows it only when its autocommands have run.
      callback = vim.schedule_wrap(check),
    })
  end)
  stop_clock()
  stop_looking()
  pcall(vim.api.nvim_del_autocmd, watch)
end

---What is said of a buffer that no server serves.
---@param bufnr integer
---@return string
function M.nobody(bufnr)
  local filetype = vim.bo[bufnr].filetype
  local others = servers.all()
  return ('No language server is attached to %s (%s). %s'):format(
    require('dapeer.editor').name(bufnr),
    filetype == '' and 'no file type' or 'file type ' .. filetype,
    #others > 0 and ('Running for other files: %s.'):format(servers.names(others))
      or ('None runs; the person starts one with %s or nvim-lspconfig.'):format(
        vim.lsp.enable and 'vim.lsp.enable()' or 'vim.lsp.start()'
      )
  )
end

-- Any of these will do: what counts is that the server answers.
local CHEAP = { 'textDocument/hover', 'textDocument/documentHighlight', 'textDocument/definition' }
local PATIENCE = 1000 -- milliseconds

-- Servers may register capabilities after their start; ruff does so for its formatter. Once one has
-- answered a request, its earlier registrations have arrived.
---@param bufnr integer
---@param question dapeer.lsp.Question
---@param which? fun(client: vim.lsp.Client): boolean
local function register_all(bufnr, question, which)
  local brief = { ctx = question.ctx, timeout = math.min(question.timeout, PATIENCE) }
  local done = {}
  for _, method in ipairs(CHEAP) do
    local clients = vim.tbl_filter(function(client)
      return not done[client.id] and (not which or which(client))
    end, (sorted_out(bufnr, method)))
    for _, client in ipairs(clients) do
      done[client.id] = true
    end
    requests.all(clients, method, function()
      local document = { uri = vim.uri_from_bufnr(bufnr) }
      return { textDocument = document, position = { line = 0, character = 0 } }
    end, brief)
  end
end

---@type table<integer, boolean>  clients whose registrations of diagnostics are known
local settled = {}

---Within a task: wait for servers that may register diagnostic requests after their start.
---Neovim has them do so since 0.12.
---@param clients vim.lsp.Client[]
---@param bufnr integer
---@param question dapeer.lsp.Question
function M.settle(clients, bufnr, question)
  local waiting = {}
  for _, client in ipairs(clients) do
    local may = vim.tbl_get(client.capabilities, 'textDocument', 'diagnostic', 'dynamicRegistration')
    waiting[client.id] = may and not settled[client.id] and not servers.diagnosing(client)
    settled[client.id] = true
  end
  register_all(bufnr, question, function(client)
    return waiting[client.id] or false
  end)
end

---Within a task: the clients of a buffer that offer a method. Fails with a sentence when there is none. Waits
---only for servers that are starting.
---@param target dapeer.lsp.Document
---@param method string
---@param question dapeer.lsp.Question
---@return vim.lsp.Client[]
function M.offering(target, method, question)
  local ready, starting = sorted_out(target.bufnr, method)
  if target.opened or #ready == 0 then
    started(target.bufnr, question, target.opened)
    ready, starting = sorted_out(target.bufnr, method)
  end
  if #ready == 0 then
    register_all(target.bufnr, question)
    ready, starting = sorted_out(target.bufnr, method)
  end
  if #ready > 0 then
    return ready
  elseif #starting > 0 then
    task.fail(('%s is still starting after %d ms. Ask again.'):format(servers.names(starting), question.timeout))
  end
  local attached = servers.all(target.bufnr)
  task.fail(
    #attached == 0 and M.nobody(target.bufnr)
      or ('No server of %s offers %s (asked: %s). nvim_lsp_clients shows what they offer.'):format(
        require('dapeer.editor').name(target.bufnr),
        method,
        servers.names(attached)
      )
  )
  return {}
end

---Within a task: all clients of a buffer, once those that are starting have started.
---@param document dapeer.lsp.Document
---@param question dapeer.lsp.Question
---@return vim.lsp.Client[]
function M.attached(document, question)
  started(document.bufnr, question, document.opened)
  return (sorted_out(document.bufnr))
end

---Within a task: all clients that offer a method, whatever buffers they have.
---@param method string
---@param question dapeer.lsp.Question
---@return vim.lsp.Client[]
function M.anywhere(method, question)
  local ready, starting = sorted_out(nil, method)
  if #ready == 0 and #starting > 0 then
    started(nil, question)
    ready = sorted_out(nil, method)
  end
  if #ready == 0 then
    local running = servers.all()
    task.fail(
      #running == 0 and 'No language server runs. Open a file whose language has one.'
        or ('No running server offers %s (%s).'):format(method, servers.names(running))
    )
  end
  return ready
end

return M
