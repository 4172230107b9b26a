-- A new name for a thing, wherever it is used.
local M = {}

local edits = require('dapeer.lsp.edits')
local positions = require('dapeer.lsp.positions')
local ready = require('dapeer.lsp.ready')
local requests = require('dapeer.lsp.requests')
local task = require('dapeer.lsp.task')

local METHOD = 'textDocument/rename'

---@param target dapeer.lsp.Target
---@return string  the word that stands there
local function word(target)
  local head = target.text:sub(1, target.byte):match('[%w_\128-\255]*$')
  return head .. target.text:sub(target.byte + 1):match('^[%w_\128-\255]*')
end

---@param args table
---@param ctx dapeer.Context
---@return dapeer.Result
function M.rename(args, ctx)
  local target = positions.target(args)
  local question = requests.question(args, ctx, target.bufnr)
  local why = {}
  for _, client in ipairs(ready.offering(target, METHOD, question)) do
    local params = vim.tbl_extend('error', positions.params(target, client), { newName = args.new_name })
    local answer = requests.all({ client }, METHOD, function()
      return params
    end, question)[1]
    local changes = edits.listed(answer.result)
    -- The first server that knows the thing: two might edit it twice.
    if #changes > 0 then
      local title = ('Rename `%s` to `%s`'):format(word(target), args.new_name)
      return require('dapeer.lsp.proposal').answer(title, changes, client.offset_encoding, args)
    end
    table.insert(why, answer.problem or ('%s has no changes to propose.'):format(client.name))
  end
  return task.fail(('The symbol at %s cannot be renamed. %s'):format(positions.place(target), table.concat(why, ' ')))
end

return M
