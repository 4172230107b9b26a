-- A code action that was chosen: its edits, and the command that may belong to it.
local M = {}

local changing = require('dapeer.lsp.changing')
local edits = require('dapeer.lsp.edits')
local requests = require('dapeer.lsp.requests')
local task = require('dapeer.lsp.task')
local answer_text = require('dapeer.lsp.answer_text')

local EDIT = 'workspace/applyEdit'

---@return table<integer, { tick: integer, clean: boolean }>  the loaded buffers
local function states()
  local found = {}
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      found[bufnr] = {
        tick = vim.api.nvim_buf_get_changedtick(bufnr),
        clean = not vim.bo[bufnr].modified,
      }
    end
  end
  return found
end

-- While a command runs the server has Neovim edit. Neovim does that itself; which buffers it changes is
-- noted, as apart from those in which the person types meanwhile.
---@param client vim.lsp.Client
---@param changed table<integer, boolean>  by buffer: whether it had no unsaved changes before
---@return fun() stop
local function noting(client, changed)
  local own = client.handlers[EDIT]
  client.handlers[EDIT] = function(...)
    local before = states()
    local result = (own or vim.lsp.handlers[EDIT])(...)
    for bufnr, now in pairs(states()) do
      local was = before[bufnr] or { clean = true }
      if was.tick ~= now.tick and not now.clean and changed[bufnr] == nil then
        changed[bufnr] = was.clean
      end
    end
    return result
  end
  return function()
    client.handlers[EDIT] = own
  end
end

---@param changed table<integer, boolean>
---@param save boolean
---@return dapeer.lsp.Outcome[]
local function outcomes_of(changed, save)
  local outcomes = {}
  for bufnr, clean in pairs(changed) do
    local path = vim.api.nvim_buf_get_name(bufnr)
    table.insert(outcomes, changing.outcome(bufnr, path, clean, save))
  end
  return outcomes
end

---@param command lsp.Command
---@param client vim.lsp.Client
---@param question dapeer.lsp.Question
---@return string? problem
local function run(command, client, question)
  local own = client.commands[command.command] or vim.lsp.commands[command.command]
  if own then
    own(command, { bufnr = question.bufnr, client_id = client.id })
    return
  end
  return requests.all({ client }, 'workspace/executeCommand', function()
    return { command = command.command, arguments = command.arguments }
  end, question)[1].problem
end

---Within a task: show what an action would do, or do it.
---@param action lsp.CodeAction
---@param client vim.lsp.Client
---@param question dapeer.lsp.Question
---@param args table
---@return dapeer.Result
function M.act(action, client, question, args)
  local changes = edits.listed(action.edit)
  local command = action.command
  local title = ('"%s" of %s'):format(action.title, client.name)
  local data = { command = command and command.command }
  local unknown = command and ('It runs the command %s, whose changes are unknown beforehand.'):format(command.command)
  local result = require('dapeer.lsp.proposal').answer(
    title,
    changes,
    client.offset_encoding,
    args,
    { lines = { not args.apply and unknown or nil }, data = data, nothing = command and '.' }
  )
  if not (command and args.apply) then
    return result
  end
  local changed = {}
  local stop = noting(client, changed)
  local problem = run(command, client, question)
  stop()
  if problem then
    task.fail(problem)
  end
  local outcomes = outcomes_of(changed, args.save ~= false)
  result.structuredContent.applied = true
  result.structuredContent.changed_by_command = outcomes
  return answer_text.result({
    ('%s: done, with the command %s.'):format(title, command.command),
    changing.summary(outcomes),
    #changes > 0 and result.content[1].text or {},
  }, result.structuredContent)
end

return M
