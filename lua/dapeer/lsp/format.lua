-- A file, or some lines of it, as its formatter wants it.
local M = {}

local positions = require('dapeer.lsp.positions')
local ready = require('dapeer.lsp.ready')
local requests = require('dapeer.lsp.requests')
local servers = require('dapeer.lsp.servers')
local task = require('dapeer.lsp.task')

---@param clients vim.lsp.Client[]
---@param name? string
---@return vim.lsp.Client
local function chosen(clients, name)
  for _, client in ipairs(clients) do
    if not name or client.name == name then
      return client
    end
  end
  return task.fail(('`%s` does not format this file; %s does.'):format(name, servers.names(clients)))
end

---@param document dapeer.lsp.Document
---@param args table
---@return lsp.Range?
local function range(document, args)
  if not args.line then
    return nil
  end
  local last = math.max(args.end_line or args.line, args.line)
  positions.line(document, args.line)
  local text = positions.line(document, last)
  -- The line's end in bytes is beyond its end in whatever units.
  return {
    start = { line = args.line - 1, character = 0 },
    ['end'] = { line = last - 1, character = #text },
  }
end

---@param args table
---@param ctx dapeer.Context
---@return dapeer.Result
function M.format(args, ctx)
  local document = positions.document(args.filename)
  local question = requests.question(args, ctx, document.bufnr)
  local lines = range(document, args)
  local method = lines and 'textDocument/rangeFormatting' or 'textDocument/formatting'
  local clients = ready.offering(document, method, question)
  local client = chosen(clients, args.client)
  local bufnr = document.bufnr
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  local uri = vim.uri_from_bufnr(bufnr)
  local found = requests.one(client, method, {
    textDocument = { uri = uri },
    range = lines,
    options = {
      tabSize = vim.lsp.util.get_effective_tabstop(bufnr),
      insertSpaces = vim.bo[bufnr].expandtab,
    },
  }, question)
  if vim.api.nvim_buf_get_changedtick(bufnr) ~= tick then
    task.fail(('%s has changed meanwhile. Ask again.'):format(document.name))
  end
  local others = #clients > 1 and not args.client
  local title = ('Format %s with %s'):format(document.name, client.name)
  local changes = require('dapeer.lsp.edits').listed({ changes = { [uri] = found or {} } })
  return require('dapeer.lsp.proposal').answer(title, changes, client.offset_encoding, args, {
    lines = others and { ('Also formatting: %s; `client` chooses.'):format(servers.names(clients)) },
  })
end

return M
