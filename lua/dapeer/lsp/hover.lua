-- What servers say about the thing at a place.
local M = {}

local positions = require('dapeer.lsp.positions')
local ready = require('dapeer.lsp.ready')
local requests = require('dapeer.lsp.requests')
local answer_text = require('dapeer.lsp.answer_text')

local METHOD = 'textDocument/hover'
local LONGEST = 6000 -- characters

---@param contents lsp.MarkupContent|lsp.MarkedString|lsp.MarkedString[]
---@return string
local function markdown(contents)
  if type(contents) == 'string' then
    return contents
  elseif contents.kind then
    return contents.value
  elseif contents.language then
    return ('```%s\n%s\n```'):format(contents.language, contents.value)
  end
  return table.concat(vim.tbl_map(markdown, contents), '\n\n')
end

---@param args table
---@param ctx dapeer.Context
---@return dapeer.Result
function M.hover(args, ctx)
  local question = requests.question(args, ctx)
  local target = positions.target(args)
  question.bufnr = target.bufnr
  local clients = ready.offering(target, METHOD, question)
  local answers = requests.all(clients, METHOD, function(client)
    return positions.params(target, client)
  end, question)
  local problems = requests.problems(answers)
  local hovers, texts = {}, {}
  for _, answer in ipairs(answers) do
    local contents = type(answer.result) == 'table' and answer.result.contents
    local text = contents and vim.trim(markdown(contents)) or ''
    if text ~= '' then
      text = require('dapeer.results.fitting').shortened(text, LONGEST)
      table.insert(hovers, { client = answer.client.name, text = text })
    end
  end
  for _, hover in ipairs(hovers) do
    table.insert(texts, #hovers > 1 and ('[%s]\n%s'):format(hover.client, hover.text) or hover.text)
  end
  local head = positions.place(target) .. (#hovers == 0 and ': the language servers know nothing about it.' or '')
  return answer_text.result({ head, texts, problems }, {
    path = vim.api.nvim_buf_get_name(target.bufnr),
    line = target.line,
    column = target.column,
    hovers = hovers,
    problems = problems,
  })
end

return M
