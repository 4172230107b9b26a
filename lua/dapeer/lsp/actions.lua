-- Code actions: what servers offer for some lines, what one of them would change, and doing it.
local M = {}

local positions = require('dapeer.lsp.positions')
local ready = require('dapeer.lsp.ready')
local requests = require('dapeer.lsp.requests')
local servers = require('dapeer.lsp.servers')
local task = require('dapeer.lsp.task')
local answer_text = require('dapeer.lsp.answer_text')

local METHOD = 'textDocument/codeAction'

---@class dapeer.lsp.Offer
---@field client vim.lsp.Client
---@field action lsp.CodeAction|lsp.Command

---@class dapeer.lsp.Span
---@field document dapeer.lsp.Document
---@field first { line: integer, byte: integer, text: string }
---@field last { line: integer, byte: integer, text: string }

-- From a column or symbol: that place. From a line: all of it. From nothing: the whole file.
---@param args table
---@return dapeer.lsp.Span
local function span(args)
  if args.column or args.symbol then
    local target = positions.target(args)
    local there = { line = target.line, byte = target.byte, text = target.text }
    return { document = target, first = there, last = there }
  end
  local document = positions.document(args.filename)
  local line = args.line or 1
  local last = args.end_line or args.line or vim.api.nvim_buf_line_count(document.bufnr)
  last = math.max(last, line)
  local text = positions.line(document, last)
  return {
    document = document,
    first = { line = line, byte = 0, text = positions.line(document, line) },
    last = { line = last, byte = #text, text = text },
  }
end

---@param where { line: integer, byte: integer, text: string }
---@param client vim.lsp.Client
---@return lsp.Position
local function position(where, client)
  local character = positions.units(where.text, where.byte, client.offset_encoding)
  return { line = where.line - 1, character = character }
end

-- Servers may take the kind as a hint: ruff lists its quick fixes even so.
---@param action lsp.CodeAction|lsp.Command
---@param kind? string
local function of_kind(action, kind)
  return not kind or action.kind == kind or vim.startswith(action.kind or '', kind .. '.')
end

---@param args table
---@param at dapeer.lsp.Span
---@param question dapeer.lsp.Question
---@return dapeer.lsp.Offer[] offers
---@return string[] problems
local function offered(args, at, question)
  local bufnr = at.document.bufnr
  local clients = ready.offering(at.document, METHOD, question)
  local known, notes = require('dapeer.lsp.reports').raw(bufnr, clients, question)
  local answers = requests.all(clients, METHOD, function(client)
    local first, last = position(at.first, client), position(at.last, client)
    return {
      textDocument = { uri = vim.uri_from_bufnr(bufnr) },
      range = { start = first, ['end'] = last },
      context = {
        triggerKind = 1,
        only = args.kind and { args.kind } or nil,
        diagnostics = vim.tbl_filter(function(diagnostic)
          return diagnostic.range.start.line <= last.line and diagnostic.range['end'].line >= first.line
        end, known[client.id]),
      },
    }
  end, question)
  local offers = {}
  for _, answer in ipairs(answers) do
    for _, action in ipairs(answer.result or {}) do
      if of_kind(action, args.kind) then
        table.insert(offers, { client = answer.client, action = action })
      end
    end
  end
  return offers, vim.list_extend(notes, requests.problems(answers))
end

---@param offer dapeer.lsp.Offer
---@param number integer
local function facts(offer, number)
  local action = offer.action
  return {
    number = number,
    title = action.title,
    kind = action.kind,
    client = offer.client.name,
    preferred = action.isPreferred or nil,
    disabled = action.disabled and action.disabled.reason or nil,
  }
end

local function line_of(offer)
  return ('%d. %s  [%s%s%s]%s'):format(
    offer.number,
    offer.title,
    offer.client,
    offer.kind and ', ' .. offer.kind or '',
    offer.preferred and ', preferred' or '',
    offer.disabled and ' not now: ' .. offer.disabled or ''
  )
end

---@param offers dapeer.lsp.Offer[]
---@param problems string[]
---@param at dapeer.lsp.Span
local function list(offers, problems, at, args)
  local actions = {}
  for number, offer in ipairs(offers) do
    table.insert(actions, facts(offer, number))
  end
  local where = at.first.line == at.last.line and ('line %d'):format(at.first.line)
    or ('lines %d-%d'):format(at.first.line, at.last.line)
  local head = ('%s, %s: %s%s'):format(
    at.document.name,
    where,
    answer_text.count(#offers, 'code action'),
    #offers > 0 and '. `action` with a number or title shows what one changes.' or '.'
  )
  local page, note = answer_text.page(actions, args)
  return answer_text.result({ head, vim.tbl_map(line_of, page), note or {}, problems }, {
    path = vim.api.nvim_buf_get_name(at.document.bufnr),
    actions = page,
    total = #actions,
    problems = problems,
  })
end

---@param offers dapeer.lsp.Offer[]
---@param choice string|integer
---@return dapeer.lsp.Offer
local function chosen(offers, choice)
  local number = tonumber(choice)
  if number and offers[number] then
    return offers[number]
  end
  for _, offer in ipairs(offers) do
    if offer.action.title == choice then
      return offer
    end
  end
  local titles = {}
  for index, offer in ipairs(offers) do
    table.insert(titles, ('%d. %s'):format(index, offer.action.title))
  end
  return task.fail(
    ('There is no code action %s here. %s'):format(
      vim.inspect(choice),
      #titles > 0 and 'There is: ' .. table.concat(titles, '; ') or 'There is none at all.'
    )
  )
end

-- Many servers work an action out only when it has been chosen.
---@param offer dapeer.lsp.Offer
---@param question dapeer.lsp.Question
---@return lsp.CodeAction
local function resolved(offer, question)
  local action = offer.action
  if type(action.command) == 'string' then
    return { title = action.title, command = action }
  elseif not action.edit and servers.offers(offer.client, 'codeAction/resolve', question.bufnr) then
    return requests.one(offer.client, 'codeAction/resolve', action, question) or action
  end
  return action
end

---@param args table
---@param ctx dapeer.Context
---@return dapeer.Result
function M.actions(args, ctx)
  if args.apply and not args.action then
    task.fail('`apply` needs `action`, the number or the title of one. Without both they are listed.')
  end
  local at = span(args)
  local question = requests.question(args, ctx, at.document.bufnr)
  local offers, problems = offered(args, at, question)
  if args.action == nil then
    return list(offers, problems, at, args)
  end
  local offer = chosen(offers, args.action)
  local action = resolved(offer, question)
  if action.disabled then
    task.fail(('`%s` cannot be done now: %s'):format(action.title, action.disabled.reason))
  end
  return require('dapeer.lsp.acting').act(action, offer.client, question, args)
end

return M
