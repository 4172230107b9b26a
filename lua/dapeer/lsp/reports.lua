-- Diagnostics: those that Neovim keeps, and those that servers report when they are asked.
local M = {}

local positions = require('dapeer.lsp.positions')
local ready = require('dapeer.lsp.ready')
local requests = require('dapeer.lsp.requests')
local servers = require('dapeer.lsp.servers')

local OF_FILE = 'textDocument/diagnostic'
local LONGEST = 2000 -- characters of a message

M.SEVERITIES = { 'error', 'warn', 'info', 'hint' }

---@class dapeer.lsp.Finding  A diagnostic.
---@field path string
---@field line integer        1-based
---@field column integer      1-based, in characters
---@field end_line integer
---@field end_column integer  behind its last character
---@field severity 'error'|'warn'|'info'|'hint'
---@field message string
---@field source? string
---@field code? string
---@field client? string      the server

---@param severity? integer
local function named(severity)
  return M.SEVERITIES[severity or 1] or 'error'
end

local function code_of(code)
  if code == nil or code == '' or code == vim.NIL then
    return nil
  end
  return tostring(code)
end

---A diagnostic of the protocol.
---@param given lsp.Diagnostic
---@param path string
---@param client vim.lsp.Client
---@param sources dapeer.lsp.Sources
---@return dapeer.lsp.Finding
function M.of_server(given, path, client, sources)
  local first, last = given.range.start, given.range['end']
  local encoding = client.offset_encoding
  local message = type(given.message) == 'table' and given.message.value or given.message
  local line, column = positions.from_protocol(sources:line(path, first.line + 1), first, encoding)
  local end_line, end_column = positions.from_protocol(sources:line(path, last.line + 1), last, encoding)
  return {
    path = path,
    line = line,
    column = column,
    end_line = end_line,
    end_column = end_column,
    severity = named(given.severity),
    message = require('dapeer.results.fitting').shortened(message, LONGEST),
    source = given.source,
    code = code_of(given.code),
    client = client.name,
  }
end

---A diagnostic of Neovim's.
---@param given vim.Diagnostic
---@param client? vim.lsp.Client
---@param sources dapeer.lsp.Sources
---@return dapeer.lsp.Finding
function M.of_neovim(given, client, sources)
  local path = vim.api.nvim_buf_get_name(given.bufnr)
  local last = given.end_lnum or given.lnum
  return {
    path = path,
    line = given.lnum + 1,
    column = positions.column(sources:line(path, given.lnum + 1), given.col),
    end_line = last + 1,
    end_column = positions.column(sources:line(path, last + 1), given.end_col or given.col),
    severity = named(given.severity),
    message = require('dapeer.results.fitting').shortened(given.message, LONGEST),
    source = given.source,
    code = code_of(given.code),
    client = client and client.name,
  }
end

---Which clients' diagnostics are in which of Neovim's namespaces.
---@return table<integer, { client: vim.lsp.Client, pulled: boolean }>  pulled: they were asked for
function M.namespaces()
  local owners = {}
  for namespace, facts in pairs(vim.diagnostic.get_namespaces()) do
    for _, client in ipairs(servers.all()) do
      -- vim.lsp.NAME.ID, and for those that were asked for .IDENTIFIER behind it
      local own = ('lsp.%s.%d'):format(client.name, client.id)
      local _, last = (facts.name or ''):find(own, 1, true)
      local rest = last and facts.name:sub(last + 1)
      if rest and rest:match('^%.?') == rest:sub(1, 1) then
        owners[namespace] = { client = client, pulled = rest ~= '' }
      end
    end
  end
  return owners
end

---Within a task: the clients that can be asked for diagnostics of a buffer, and those that publish on their own.
---@param clients vim.lsp.Client[]
---@param bufnr integer
---@param question dapeer.lsp.Question
---@return vim.lsp.Client[] pulled
---@return vim.lsp.Client[] others
function M.sorted(clients, bufnr, question)
  ready.settle(clients, bufnr, question)
  local pulled, others = {}, {}
  for _, client in ipairs(clients) do
    table.insert(servers.offers(client, OF_FILE, bufnr) and pulled or others, client)
  end
  return pulled, others
end

---Within a task: ask for the diagnostics of a buffer as it is now.
---@param clients vim.lsp.Client[]
---@param bufnr integer
---@param question dapeer.lsp.Question
---@return dapeer.lsp.Answer[]  the result: lsp.Diagnostic[], of another file by its path
function M.ask(clients, bufnr, question)
  local uri = vim.uri_from_bufnr(bufnr)
  local own = vim.tbl_extend('force', {}, question, { bufnr = bufnr })
  return requests.all(clients, OF_FILE, function(client)
    local options = servers.diagnosing(client)
    return { textDocument = { uri = uri }, identifier = options and options.identifier or nil }
  end, own)
end

---Within a task: what each client has to say of a buffer, as the protocol has it.
---@param bufnr integer
---@param clients vim.lsp.Client[]
---@param question dapeer.lsp.Question
---@return table<integer, lsp.Diagnostic[]>  by client
---@return string[]  a sentence for each client that has not published yet
function M.raw(bufnr, clients, question)
  local published = require('dapeer.lsp.published')
  local pulled, others = M.sorted(clients, bufnr, question)
  local notes = published.unheard(bufnr) and published.wait(others, bufnr, question) or {}
  local found = {}
  for _, client in ipairs(clients) do
    found[client.id] = {}
  end
  for namespace, owner in pairs(M.namespaces()) do
    local client = owner.client
    if found[client.id] and not owner.pulled then
      for _, given in ipairs(vim.diagnostic.get(bufnr, { namespace = namespace })) do
        table.insert(found[client.id], given.user_data and given.user_data.lsp)
      end
    end
  end
  for _, answer in ipairs(M.ask(pulled, bufnr, question)) do
    vim.list_extend(found[answer.client.id], answer.result and answer.result.items or {})
  end
  return found, notes
end

return M
