-- Who calls a function, and whom it calls.
local M = {}

local locations = require('dapeer.lsp.locations')
local positions = require('dapeer.lsp.positions')
local ready = require('dapeer.lsp.ready')
local requests = require('dapeer.lsp.requests')
local answer_text = require('dapeer.lsp.answer_text')

local PREPARE = 'textDocument/prepareCallHierarchy'
local CALLS_SHOWN = 20 -- of one function

---@class dapeer.lsp.Item
---@field client vim.lsp.Client
---@field item lsp.CallHierarchyItem

---@param target dapeer.lsp.Target
---@param question dapeer.lsp.Question
---@return dapeer.lsp.Item[] items
---@return string[] problems
local function prepared(target, question)
  local clients = ready.offering(target, PREPARE, question)
  local answers = requests.all(clients, PREPARE, function(client)
    return positions.params(target, client)
  end, question)
  local items = {}
  for _, answer in ipairs(answers) do
    for _, item in ipairs(answer.result or {}) do
      table.insert(items, { client = answer.client, item = item })
    end
  end
  return items, requests.problems(answers)
end

---@param item lsp.CallHierarchyItem
---@param client vim.lsp.Client
---@param sources dapeer.lsp.Sources
local function place_of(item, client, sources)
  local place = locations.place(item.uri, item.selectionRange, client.offset_encoding, sources)
  place.name = item.name
  place.kind = require('dapeer.lsp.symbols').kind(item.kind)
  place.detail = item.detail ~= '' and item.detail or nil
  return place
end

-- The calls stand in the caller's file: of whom is asked when outgoing, of the answer when incoming.
---@param call table
---@param item dapeer.lsp.Item
---@param sources dapeer.lsp.Sources
local function function_of(call, item, sources)
  local other = call.from or call.to
  local caller = call.from or item.item
  local place = place_of(other, item.client, sources)
  place.calls = {}
  for index, range in ipairs(call.fromRanges or {}) do
    if index > CALLS_SHOWN then
      break
    end
    local at = locations.place(caller.uri, range, item.client.offset_encoding, sources)
    table.insert(place.calls, { line = at.line, column = at.column, text = at.text })
  end
  return place
end

local function lines_of(place, incoming)
  local lines = {
    ('%s %s  %s:%d'):format(place.kind, place.name, answer_text.path(place.path), place.line),
  }
  for _, call in ipairs(place.calls) do
    local what = incoming and 'calls it at' or 'called at'
    table.insert(lines, ('  %s %d:%d  %s'):format(what, call.line, call.column, call.text))
  end
  return lines
end

---@param items dapeer.lsp.Item[]
---@param method string
---@param question dapeer.lsp.Question
---@return { call: table, item: dapeer.lsp.Item }[] calls
---@return string[] problems
local function calls_of(items, method, question)
  local calls, answers = {}, {}
  for _, item in ipairs(items) do
    local answer = requests.all({ item.client }, method, function()
      return { item = item.item }
    end, question)[1]
    table.insert(answers, answer)
    for _, call in ipairs(answer.result or {}) do
      table.insert(calls, { call = call, item = item })
    end
  end
  return calls, requests.problems(answers)
end

---@param args table
---@param ctx dapeer.Context
---@return dapeer.Result
function M.calls(args, ctx)
  local incoming = args.direction ~= 'outgoing'
  local target = positions.target(args)
  local question = requests.question(args, ctx, target.bufnr)
  local items, problems = prepared(target, question)
  local method = incoming and 'callHierarchy/incomingCalls' or 'callHierarchy/outgoingCalls'
  local calls, more = calls_of(items, method, question)
  vim.list_extend(problems, more)
  local page, note = answer_text.page(calls, args)
  local sources = require('dapeer.lsp.sources').new()
  local lines, functions = {}, {}
  for _, each in ipairs(page) do
    local place = function_of(each.call, each.item, sources)
    table.insert(functions, place)
    vim.list_extend(lines, lines_of(place, incoming))
  end
  local of = vim.tbl_map(function(item)
    return place_of(item.item, item.client, sources)
  end, items)
  local name = of[1] and ('%s %s'):format(of[1].kind, of[1].name)
  local head = not name and ('%s: there is no function.'):format(positions.place(target))
    or ('%s: %s'):format(name, answer_text.count(#calls, incoming and 'caller' or 'callee'))
  return answer_text.result({ head, lines, note or {}, problems }, {
    direction = incoming and 'incoming' or 'outgoing',
    of = of,
    functions = functions,
    total = #calls,
    problems = problems,
  })
end

return M
