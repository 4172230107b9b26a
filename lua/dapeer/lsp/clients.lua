-- Lists the language servers.
local M = {}

local servers = require('dapeer.lsp.servers')
local answer_text = require('dapeer.lsp.answer_text')

local FILES_SHOWN = 50

-- By the tool that needs it.
local OFFERS = {
  { 'call_hierarchy', 'textDocument/prepareCallHierarchy' },
  { 'code_actions', 'textDocument/codeAction' },
  { 'definition', 'textDocument/definition' },
  { 'diagnostics', 'textDocument/diagnostic' },
  { 'format', 'textDocument/formatting' },
  { 'hover', 'textDocument/hover' },
  { 'implementation', 'textDocument/implementation' },
  { 'references', 'textDocument/references' },
  { 'rename', 'textDocument/rename' },
  { 'symbols', 'textDocument/documentSymbol' },
  { 'type_definition', 'textDocument/typeDefinition' },
  { 'workspace_symbols', 'workspace/symbol' },
}

---@param client vim.lsp.Client
---@return string[]
local function offers(client)
  local names = {}
  for _, offer in ipairs(client.initialized and OFFERS or {}) do
    -- Some servers register their capabilities for each file.
    local offered = vim.iter(pairs(client.attached_buffers)):any(function(bufnr)
      return servers.offers(client, offer[2], bufnr)
    end)
    if offered or servers.offers(client, offer[2]) then
      table.insert(names, offer[1])
    end
  end
  return names
end

---@param client vim.lsp.Client
local function pending(client)
  return vim.iter(pairs(client.requests)):fold(0, function(sum, _, request)
    return sum + (request.type == 'pending' and 1 or 0)
  end)
end

-- A configuration may have a function there.
---@param client vim.lsp.Client
---@return string?
local function root(client)
  for _, found in ipairs({ client.root_dir or false, client.config.root_dir or false }) do
    if type(found) == 'string' then
      return found
    end
  end
end

---@param client vim.lsp.Client
local function facts_of(client)
  local files = {}
  for bufnr in pairs(client.attached_buffers) do
    if vim.api.nvim_buf_is_valid(bufnr) then
      table.insert(files, vim.api.nvim_buf_get_name(bufnr))
    end
  end
  table.sort(files)
  local busy = servers.busy(client)
  return {
    id = client.id,
    name = client.name,
    state = not client.initialized and 'starting' or #busy > 0 and 'busy' or 'ready',
    progress = busy,
    pending = pending(client),
    root = root(client),
    encoding = client.offset_encoding,
    files = vim.list_slice(files, 1, FILES_SHOWN),
    file_count = #files,
    offers = offers(client),
  }
end

local function lines_of(facts)
  local doing = #facts.progress > 0 and (' (%s)'):format(table.concat(facts.progress, ', ')) or ''
  local lines = {
    ('%s (id %d): %s%s'):format(facts.name, facts.id, facts.state, doing),
    ('  root: %s'):format(facts.root or 'none'),
    ('  files: %s'):format(
      facts.file_count == 0 and 'none' or table.concat(vim.tbl_map(answer_text.path, facts.files), ', ')
    ),
  }
  if facts.file_count > #facts.files then
    lines[3] = ('%s and %d more'):format(lines[3], facts.file_count - #facts.files)
  end
  if #facts.offers > 0 then
    table.insert(lines, '  offers: ' .. table.concat(facts.offers, ', '))
  end
  return lines
end

---@return dapeer.Result
function M.list()
  local facts = vim.tbl_map(facts_of, servers.all())
  if #facts == 0 then
    local nothing = 'No language server runs. Opening a file may start one, if the person has set it up.'
    return answer_text.result({ nothing }, { clients = {} })
  end
  return answer_text.result(vim.tbl_map(lines_of, facts), { clients = facts })
end

return M
