-- The tool `diagnostics_list`.
local M = {}

local positions = require('dapeer.lsp.positions')
local published = require('dapeer.lsp.published')
local ready = require('dapeer.lsp.ready')
local reports = require('dapeer.lsp.reports')
local requests = require('dapeer.lsp.requests')
local servers = require('dapeer.lsp.servers')
local task = require('dapeer.lsp.task')
local answer_text = require('dapeer.lsp.answer_text')

local OF_WORKSPACE = 'workspace/diagnostic'
local MESSAGE = 300 -- characters of a message in the text

---By client: the longest time, in milliseconds, for which it has left a request for the workspace open. The
---protocol allows that when a server has nothing (more) to tell; ty does so unless its diagnosticMode is
---`workspace`.
---@type table<integer, integer>
local unanswered = {}

---@class dapeer.lsp.Collected
---@field findings dapeer.lsp.Finding[]
---@field fresh table<string, boolean>  by `client:path`: reported just now, so what Neovim keeps is older
---@field notes string[]
---@field sources dapeer.lsp.Sources

---@return dapeer.lsp.Collected
local function collected()
  return {
    findings = {},
    fresh = {},
    notes = {},
    sources = require('dapeer.lsp.sources').new(),
  }
end

---@param into dapeer.lsp.Collected
---@param client vim.lsp.Client
---@param uri string
---@param items lsp.Diagnostic[]
local function take(into, client, uri, items)
  local path = vim.uri_to_fname(uri)
  into.fresh[client.id .. ':' .. path] = true
  for _, given in ipairs(items) do
    table.insert(into.findings, reports.of_server(given, path, client, into.sources))
  end
end

---@param into dapeer.lsp.Collected
---@param clients vim.lsp.Client[]
---@param bufnr integer
---@param question dapeer.lsp.Question
---@return vim.lsp.Client[]  those that cannot be asked: they publish on their own
local function ask(into, clients, bufnr, question)
  local pulled, others = reports.sorted(clients, bufnr, question)
  for _, answer in ipairs(reports.ask(pulled, bufnr, question)) do
    if answer.result and answer.result.items then
      take(into, answer.client, vim.uri_from_bufnr(bufnr), answer.result.items)
    end
    table.insert(into.notes, answer.problem)
  end
  return others
end

-- All diagnostics of some clients for a buffer's current text.
---@param into dapeer.lsp.Collected
---@param clients vim.lsp.Client[]
---@param bufnr integer
---@param question dapeer.lsp.Question
local function ask_and_wait(into, clients, bufnr, question)
  local others = ask(into, clients, bufnr, question)
  vim.list_extend(into.notes, published.wait(others, bufnr, question))
end

-- What Neovim keeps, of servers and of other plugins.
---@param into dapeer.lsp.Collected
---@param bufnr? integer
local function recall(into, bufnr)
  local owners = reports.namespaces()
  for _, given in ipairs(vim.diagnostic.get(bufnr)) do
    local owner = owners[given.namespace]
    local client = owner and owner.client
    local path = vim.api.nvim_buf_is_valid(given.bufnr) and vim.api.nvim_buf_get_name(given.bufnr)
    -- A server may answer with some, and publish others.
    local known = owner and owner.pulled and into.fresh[client.id .. ':' .. (path or '')]
    if path and not known then
      table.insert(into.findings, reports.of_neovim(given, client, into.sources))
    end
  end
end

-- Neovim keeps the diagnostics up to date that it has to ask for only where the person sees them.
---@param bufnr integer
local function hidden(bufnr)
  return #vim.fn.win_findbuf(bufnr) == 0
end

---@param client vim.lsp.Client
---@return boolean
local function knows_workspace(client)
  local options = servers.diagnosing(client)
  return options ~= nil and options.workspaceDiagnostics == true
end

---@param into dapeer.lsp.Collected
---@param question dapeer.lsp.Question
---@return table<integer, boolean>  clients that have answered
local function ask_for_workspace(into, question)
  for _, client in ipairs(servers.all()) do
    local bufnr = next(client.attached_buffers)
    if client.initialized and bufnr then
      ready.settle({ client }, bufnr, question)
    end
  end
  local clients = vim.tbl_filter(function(client)
    return client.initialized == true and knows_workspace(client) and question.timeout > (unanswered[client.id] or 0)
  end, servers.all())
  local answers = requests.all(clients, OF_WORKSPACE, function(client)
    return {
      identifier = servers.diagnosing(client).identifier,
      previousResultIds = {},
    }
  end, question)
  local answered = {}
  for _, answer in ipairs(answers) do
    for _, report in ipairs(answer.result and answer.result.items or {}) do
      take(into, answer.client, report.uri, report.items or {})
    end
    answered[answer.client.id] = answer.result ~= nil
    unanswered[answer.client.id] = answer.problem and question.timeout or nil
  end
  return answered
end

---@param into dapeer.lsp.Collected
---@param args table
---@param question dapeer.lsp.Question
local function ask_everywhere(into, args, question)
  local answered = args.fresh and ask_for_workspace(into, question) or {}
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    local clients = vim.api.nvim_buf_is_loaded(bufnr) and servers.all(bufnr) or {}
    if #clients > 0 and not vim.bo[bufnr].modified then
      require('dapeer.editor.disk').refresh(bufnr)
    end
    clients = vim.tbl_filter(function(client)
      return client.initialized and not answered[client.id]
    end, clients)
    if args.fresh then
      ask_and_wait(into, clients, bufnr, question)
    elseif hidden(bufnr) then
      ask(into, clients, bufnr, question)
    end
  end
  for _, client in ipairs(servers.all()) do
    if args.fresh and client.initialized and not answered[client.id] then
      table.insert(into.notes, ('%s reports only open files.'):format(client.name))
    end
  end
end

---@param findings dapeer.lsp.Finding[]
---@param args table
---@param sources dapeer.lsp.Sources
---@return dapeer.lsp.Finding[]  files with the worst first, each file from its top
---@return table<string, integer> counts
local function sorted(findings, args, sources)
  local rank, worst, counts, kept = {}, {}, {}, {}
  for index, name in ipairs(reports.SEVERITIES) do
    rank[name] = index
    counts[name] = 0
  end
  for _, finding in ipairs(findings) do
    local severe = rank[finding.severity] <= (rank[args.severity] or 4)
    if severe and sources:shown(finding.path) then
      counts[finding.severity] = counts[finding.severity] + 1
      local least = worst[finding.path] or 5
      worst[finding.path] = math.min(least, rank[finding.severity])
      table.insert(kept, finding)
    end
  end
  table.sort(kept, function(one, other)
    if worst[one.path] ~= worst[other.path] then
      return worst[one.path] < worst[other.path]
    elseif one.path ~= other.path then
      return one.path < other.path
    elseif one.line ~= other.line then
      return one.line < other.line
    elseif one.column ~= other.column then
      return one.column < other.column
    end
    return one.message < other.message
  end)
  return kept, counts
end

---@param finding dapeer.lsp.Finding
local function line_of(finding)
  local from = finding.source or finding.client
  local who = table.concat(
    vim.tbl_filter(function(part)
      return part ~= ''
    end, { from or '', finding.code or '' }),
    ' '
  )
  return ('%d:%d %s %s%s'):format(
    finding.line,
    finding.column,
    finding.severity,
    require('dapeer.results.fitting').shortened((finding.message:gsub('%s*\n%s*', '; ')), MESSAGE),
    who ~= '' and (' (%s)'):format(who) or ''
  )
end

---@param counts table<string, integer>
local function summary(counts)
  local parts = {}
  for _, name in ipairs(reports.SEVERITIES) do
    if counts[name] > 0 then
      table.insert(parts, ('%d %s'):format(counts[name], name))
    end
  end
  return #parts > 0 and table.concat(parts, ', ') or 'none'
end

---@param into dapeer.lsp.Collected
---@param args table
---@param where string
---@param clients vim.lsp.Client[]
local function result_of(into, args, where, clients)
  local findings, counts = sorted(into.findings, args, into.sources)
  local page, note = answer_text.page(findings, args)
  local least = args.severity and args.severity ~= 'hint' and (', %s or worse'):format(args.severity) or ''
  local who = #clients > 0 and (' (%s)'):format(servers.names(clients)) or ''
  local notes = into.notes
  for _, client in ipairs(clients) do
    local busy = servers.busy(client)
    if #busy > 0 then
      table.insert(notes, ('%s is busy: %s.'):format(client.name, table.concat(busy, ', ')))
    end
  end
  return answer_text.result({
    ('Diagnostics of %s%s%s: %s'):format(where, least, who, summary(counts)),
    answer_text.by_file(page, line_of),
    note or {},
    notes,
  }, {
    diagnostics = page,
    total = #findings,
    counts = counts,
    clients = vim.tbl_map(function(client)
      return client.name
    end, clients),
    notes = notes,
  })
end

---@param args table
---@param ctx dapeer.Context
---@return dapeer.Result
local function of_workspace(args, ctx)
  local into = collected()
  ask_everywhere(into, args, requests.question(args, ctx))
  recall(into)
  local clients = servers.all()
  if #clients == 0 then
    table.insert(into.notes, 'No language server runs, so this list may be incomplete.')
  end
  return result_of(into, args, 'the workspace', clients)
end

---@param args table
---@param ctx dapeer.Context
---@return dapeer.Result
function M.list(args, ctx)
  if args.workspace and args.filename then
    task.fail('`filename` and `workspace` exclude each other. Give one of them.')
  elseif args.workspace then
    return of_workspace(args, ctx)
  end
  local document = positions.document(args.filename)
  local question = requests.question(args, ctx)
  local into = collected()
  local clients = ready.attached(document, question)
  if args.fresh or published.unheard(document.bufnr) then
    ask_and_wait(into, clients, document.bufnr, question)
  elseif hidden(document.bufnr) then
    ask(into, clients, document.bufnr, question)
  end
  recall(into, document.bufnr)
  if document.note then
    table.insert(into.notes, ('%s: %s.'):format(document.name, document.note))
  end
  if #clients == 0 then
    table.insert(into.notes, ready.nobody(document.bufnr))
  end
  return result_of(into, args, document.name, clients)
end

return M
