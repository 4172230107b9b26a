-- The end of every tool that changes text: show what would change, or change it.
local M = {}

local changing = require('dapeer.lsp.changing')
local edits = require('dapeer.lsp.edits')
local answer_text = require('dapeer.lsp.answer_text')

---Within a task.
---@param title string            what the changes are, such as `Rename a to b`
---@param changes dapeer.lsp.Change[]
---@param encoding dapeer.lsp.Encoding
---@param args { apply?: boolean, save?: boolean }
---@param more? { lines?: string[], data?: table, nothing?: string }  nothing: said when no file changes
---@return dapeer.Result
function M.answer(title, changes, encoding, args, more)
  more = more or {}
  changes = edits.worked_out(changes, encoding, args.apply == true)
  local lines, files = edits.shown(changes)
  local data = vim.tbl_extend('force', {
    title = title,
    applied = args.apply == true and #changes > 0,
    files = files,
    file_count = #changes,
  }, more.data or {})
  local head = ('%s: %s'):format(title, answer_text.count(#changes, 'file'))
  local summary = {}
  if #changes == 0 then
    head = title .. (more.nothing or ': nothing to change.')
  elseif args.apply then
    local outcomes = changing.make(changes, args.save ~= false)
    for index, outcome in ipairs(outcomes) do
      local file = files[index]
      if file and file.path == outcome.path then
        file.saved, file.not_saved = outcome.saved, outcome.why
      end
    end
    summary = changing.summary(outcomes)
    head = head .. ' changed.'
  else
    head = head .. ' would change. Nothing is changed yet; apply=true does it.'
  end
  return answer_text.result({ head, summary, more.lines or {}, lines }, data)
end

return M
