-- What a file, or the workspace, defines.
local M = {}

local locations = require('dapeer.lsp.locations')
local positions = require('dapeer.lsp.positions')
local ready = require('dapeer.lsp.ready')
local requests = require('dapeer.lsp.requests')
local servers = require('dapeer.lsp.servers')
local answer_text = require('dapeer.lsp.answer_text')

local OF_FILE = 'textDocument/documentSymbol'
local OF_WORKSPACE = 'workspace/symbol'

---@param number integer
---@return string
function M.kind(number)
  local name = vim.lsp.protocol.SymbolKind[number]
  return type(name) == 'string' and name:lower() or 'symbol'
end

---@class dapeer.lsp.Symbol
---@field name string
---@field kind string
---@field detail? string
---@field line integer      1-based, of the name
---@field column integer    1-based
---@field end_line integer  of the whole
---@field container? string
---@field client? string
---@field children? dapeer.lsp.Symbol[]

---@class dapeer.lsp.Row
---@field symbol dapeer.lsp.Symbol
---@field depth integer  0 at the top
---@field above? dapeer.lsp.Row

-- Servers answer with nested DocumentSymbols or, older ones, with a flat list of SymbolInformation.
---@param listed table[]
---@param at { bufnr: integer, encoding: dapeer.lsp.Encoding, client?: string, deepest?: integer }
---@param rows dapeer.lsp.Row[]
---@param above? dapeer.lsp.Row
local function collect(listed, at, rows, above)
  local depth = above and above.depth + 1 or 0
  if depth >= (at.deepest or math.huge) then
    return
  end
  for _, given in ipairs(listed) do
    local range = given.range or given.location.range
    local named = (given.selectionRange or range).start
    local text = require('dapeer.editor').line(at.bufnr, named.line + 1)
    local line, column = positions.from_protocol(text, named, at.encoding)
    local row = {
      depth = depth,
      above = above,
      symbol = {
        name = given.name,
        kind = M.kind(given.kind),
        detail = given.detail ~= '' and given.detail or nil,
        line = line,
        column = column,
        end_line = range['end'].line + (range['end'].character > 0 and 1 or 0),
        container = above and above.symbol.name or given.containerName,
        client = at.client,
      },
    }
    row.symbol.end_line = math.max(row.symbol.end_line, line)
    table.insert(rows, row)
    collect(given.children or {}, at, rows, row)
  end
end

-- Those of a page, nested again. One whose parent is on another page stands at the top, with its container.
---@param page dapeer.lsp.Row[]
---@return dapeer.lsp.Symbol[]
local function nested(page)
  local roots, shown = {}, {}
  for _, row in ipairs(page) do
    shown[row] = true
    if row.above and shown[row.above] then
      local parent = row.above.symbol
      parent.children = parent.children or {}
      row.symbol.container = nil
      table.insert(parent.children, row.symbol)
    else
      table.insert(roots, row.symbol)
    end
  end
  return roots
end

---@param row dapeer.lsp.Row
local function line_of(row)
  local symbol = row.symbol
  local lines = symbol.end_line > symbol.line and ('%d-%d'):format(symbol.line, symbol.end_line)
    or tostring(symbol.line)
  local detail = symbol.detail and ' ' .. answer_text.source(symbol.detail) or ''
  local client = symbol.client and row.depth == 0 and (' [%s]'):format(symbol.client) or ''
  return ('  '):rep(row.depth) .. ('%s %s  %s%s%s'):format(symbol.kind, symbol.name, lines, detail, client)
end

---@param args table
---@param ctx dapeer.Context
---@return dapeer.Result
function M.of_file(args, ctx)
  local document = positions.document(args.filename)
  local question = requests.question(args, ctx, document.bufnr)
  local clients = ready.offering(document, OF_FILE, question)
  local answers = requests.all(clients, OF_FILE, function()
    return { textDocument = { uri = vim.uri_from_bufnr(document.bufnr) } }
  end, question)
  local problems = requests.problems(answers)
  local rows = {}
  for _, answer in ipairs(answers) do
    collect(answer.result or {}, {
      bufnr = document.bufnr,
      encoding = answer.client.offset_encoding,
      client = #clients > 1 and answer.client.name or nil,
      deepest = args.depth,
    }, rows)
  end
  local page, note = answer_text.page(rows, args)
  local lines = vim.tbl_map(line_of, page)
  local head = ('%s: %s'):format(document.name, answer_text.count(#rows, 'symbol'))
  return answer_text.result({ head, lines, note or {}, problems }, {
    path = vim.api.nvim_buf_get_name(document.bufnr),
    symbols = nested(page),
    total = #rows,
    problems = problems,
  })
end

---@param answers dapeer.lsp.Answer[]
---@return { given: table, client: vim.lsp.Client }[]
local function matches(answers)
  local found, known = {}, {}
  for _, answer in ipairs(answers) do
    for _, given in ipairs(answer.result or {}) do
      local start = (given.location.range or { start = { line = -1 } }).start
      local key = table.concat({ given.name, given.location.uri, start.line }, '\n')
      if not known[key] then
        known[key] = true
        table.insert(found, { given = given, client = answer.client })
      end
    end
  end
  return found
end

---@param given table
---@param client vim.lsp.Client
---@param sources dapeer.lsp.Sources
---@return dapeer.lsp.Place
local function match(given, client, sources)
  local where = given.location
  local place = where.range and locations.place(where.uri, where.range, client.offset_encoding, sources)
    or { path = vim.uri_to_fname(where.uri) }
  place.name = given.name
  place.kind = M.kind(given.kind)
  place.container = given.containerName ~= '' and given.containerName or nil
  return place
end

local function line_of_match(place)
  local where = place.line and (':%d:%d'):format(place.line, place.column) or ''
  local container = place.container and (' in %s'):format(place.container) or ''
  return ('%s %s%s  %s%s'):format(place.kind, place.name, container, answer_text.path(place.path), where)
end

---@param args table
---@param ctx dapeer.Context
---@return dapeer.Result
function M.of_workspace(args, ctx)
  local question = requests.question(args, ctx)
  local clients = ready.anywhere(OF_WORKSPACE, question)
  local answers = requests.all(clients, OF_WORKSPACE, function()
    return { query = args.query }
  end, question)
  local problems = requests.problems(answers)
  local found = matches(answers)
  local page, note = answer_text.page(found, args)
  local sources = require('dapeer.lsp.sources').new()
  local shown = vim.tbl_map(function(each)
    return match(each.given, each.client, sources)
  end, page)
  local head = ('`%s`: %s (%s)'):format(args.query, answer_text.count(#found, 'symbol'), servers.names(clients))
  return answer_text.result({ head, vim.tbl_map(line_of_match, shown), note or {}, problems }, {
    symbols = shown,
    total = #found,
    problems = problems,
  })
end

return M
