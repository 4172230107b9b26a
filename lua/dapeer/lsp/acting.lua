-- A code action that was chosen: its edits, and the command that may belong to it.
local M = {}

local changing = require('dapeer.lsp.changing')
local edits = require('dapeer.lsp.edits')
local requests = require('dapeer.lsp.requests')
local servers = require('dapeer.lsp.servers')
local telling = require('dapeer.lsp.telling')

-- Which loaded buffers change while a command runs: the server has Neovim make its edits.
---@return table<integer, { tick: integer, clean: boolean }>
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

---@param before table<integer, { tick: integer, clean: boolean }>
---@param save boolean
---@return dapeer.lsp.Outcome[]
local function outcomes_since(before, save)
  local outcomes = {}
  for bufnr, now in pairs(states()) do
    local was = before[bufnr] or { clean = true }
    if was.tick ~= now.tick and not now.clean then
      local why = not save and '`save` is false'
        or not was.clean and 'the person had unsaved changes in it'
        or changing.save(bufnr)
      local path = vim.api.nvim_buf_get_name(bufnr)
      table.insert(outcomes, { path = path, saved = why == nil, why = why })
    end
  end
  return outcomes
end

---@param command lsp.Command
---@param client vim.lsp.Client
---@param question dapeer.lsp.Question
local function run(command, client, question)
  local own = client.commands[command.command] or vim.lsp.commands[command.command]
  if own then
    own(command, { bufnr = question.bufnr, client_id = client.id })
    return
  end
  requests.one(client, 'workspace/executeCommand', {
    command = command.command,
    arguments = command.arguments,
  }, question)
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
  local unknown = command
    and ('It runs the command %s, and what that changes is not known before.'):format(command.command)
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
  local before = states()
  run(command, client, question)
  local outcomes = outcomes_since(before, args.save ~= false)
  result.structuredContent.applied = true
  result.structuredContent.changed_by_command = outcomes
  local told = telling.result({
    ('%s: done, with the command %s.'):format(title, command.command),
    changing.told(outcomes),
    #changes > 0 and result.content[1].text or {},
  }, result.structuredContent)
  return told
end

return M
