-- Where something is: definitions, types, implementations, references. One list from all servers.
local M = {}

local positions = require('dapeer.lsp.positions')
local ready = require('dapeer.lsp.ready')
local requests = require('dapeer.lsp.requests')
local servers = require('dapeer.lsp.servers')
local answer_text = require('dapeer.lsp.answer_text')

---@class dapeer.lsp.Place
---@field path string
---@field line? integer        1-based
---@field column? integer      1-based, in characters
---@field end_line? integer
---@field end_column? integer  behind its last character
---@field text? string         the line
---@field client? string       the server's name, where several were asked
---@field name? string         of a symbol
---@field kind? string
---@field detail? string
---@field container? string    the symbol around it
---@field calls? { line: integer, column: integer, text: string }[]

---A range in a file in a tool's result.
---@param uri string
---@param range lsp.Range
---@param encoding dapeer.lsp.Encoding
---@param sources dapeer.lsp.Sources
---@return dapeer.lsp.Place
function M.place(uri, range, encoding, sources)
  local path = vim.uri_to_fname(uri)
  local text = sources:line(path, range.start.line + 1)
  local line, column = positions.from_protocol(text, range.start, encoding)
  local last = sources:line(path, range['end'].line + 1)
  local end_line, end_column = positions.from_protocol(last, range['end'], encoding)
  return {
    path = path,
    line = line,
    column = column,
    end_line = end_line,
    end_column = end_column,
    text = sources:shown(path) and answer_text.source(text) or '',
  }
end

-- A server answers with one Location, with a list of them, or with a list of LocationLinks.
local function listed(result)
  if type(result) ~= 'table' then
    return {}
  end
  return (result.uri or result.targetUri) and { result } or result
end

---@class dapeer.lsp.Found
---@field uri string
---@field range lsp.Range
---@field client vim.lsp.Client

-- Servers that count alike can be compared without reading the files.
---@param answers dapeer.lsp.Answer[]
---@param sources dapeer.lsp.Sources
---@return fun(found: dapeer.lsp.Found): string
local function keyed(answers, sources)
  local alike = vim.iter(answers):all(function(answer)
    return answer.client.offset_encoding == answers[1].client.offset_encoding
  end)
  return function(found)
    local start, column = found.range.start, nil
    if not alike then
      local text = sources:line(vim.uri_to_fname(found.uri), start.line + 1)
      column = positions.byte(text, start.character, found.client.offset_encoding)
    end
    return table.concat({ found.uri, start.line, column or start.character }, ':')
  end
end

---@param answers dapeer.lsp.Answer[]
---@param sources dapeer.lsp.Sources
---@return dapeer.lsp.Found[]
local function merged(answers, sources)
  local found, known, key_of = {}, {}, keyed(answers, sources)
  for _, answer in ipairs(answers) do
    for _, each in ipairs(listed(answer.result)) do
      local one = {
        uri = each.uri or each.targetUri,
        range = each.range or each.targetSelectionRange,
        client = answer.client,
      }
      local key = key_of(one)
      if not known[key] then
        known[key] = true
        table.insert(found, one)
      end
    end
  end
  table.sort(found, function(one, other)
    local a, b = one.range.start, other.range.start
    if one.uri ~= other.uri then
      return one.uri < other.uri
    elseif a.line ~= b.line then
      return a.line < b.line
    end
    return a.character < b.character
  end)
  return found
end

---@param found dapeer.lsp.Found[]
---@param several boolean  more than one server was asked
---@param sources dapeer.lsp.Sources
---@return dapeer.lsp.Place[]
local function places(found, several, sources)
  return vim.tbl_map(function(each)
    local place = M.place(each.uri, each.range, each.client.offset_encoding, sources)
    place.client = several and each.client.name or nil
    return place
  end, found)
end

local function counted_files(found)
  local files = {}
  for _, each in ipairs(found) do
    files[each.uri] = true
  end
  return answer_text.count(vim.tbl_count(files), 'file')
end

---Within a task: ask where something is.
---@param args table
---@param ctx dapeer.Context
---@param method string
---@param noun string      what is asked for, in the singular
---@param more? table      parameters besides the position
---@return dapeer.Result
function M.find(args, ctx, method, noun, more)
  local question = requests.question(args, ctx)
  local target = positions.target(args)
  question.bufnr = target.bufnr
  local clients = ready.offering(target, method, question)
  local answers = requests.all(clients, method, function(client)
    return vim.tbl_extend('error', positions.params(target, client), more or {})
  end, question)
  local problems = requests.problems(answers)
  local sources = require('dapeer.lsp.sources').new()
  local found = merged(answers, sources)
  local page, note = answer_text.page(found, args)
  local shown = places(page, #clients > 1, sources)
  local head = ('%s at %s: '):format(noun:gsub('^%l', string.upper), positions.place(target))
  if #found == 0 then
    head = head .. ('none (%s).'):format(servers.names(clients))
  else
    head = head .. ('%d in %s'):format(#found, counted_files(found))
  end
  return answer_text.result({
    head,
    answer_text.by_file(shown, function(place)
      return ('%d:%d  %s'):format(place.line, place.column, place.text)
    end),
    note or {},
    problems,
  }, {
    path = vim.api.nvim_buf_get_name(target.bufnr),
    line = target.line,
    column = target.column,
    locations = shown,
    total = #found,
    problems = problems,
  })
end

return M
