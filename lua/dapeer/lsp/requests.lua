-- Requests to language servers. None waits on the main thread, each has a deadline, and each ends: Neovim
-- itself calls no callback when a server crashes, or when Neovim has cancelled a request.
local M = {}

local servers = require('dapeer.lsp.servers')
local task = require('dapeer.lsp.task')

---Milliseconds.
M.DEADLINE = 5000

-- Errors of the protocol after which the same request is worth another try: the text has changed
-- meanwhile, or the server gave something else the precedence.
local PASSING = { [-32801] = true, [-32802] = true }
local TRIES = 4

---@class dapeer.lsp.Answer
---@field client vim.lsp.Client
---@field result? any
---@field problem? string  a sentence

---@class dapeer.lsp.Question
---@field ctx dapeer.Context
---@field bufnr? integer     whose unsent changes the server gets first
---@field timeout integer    milliseconds

---The question that a call of a tool puts to servers.
---@param args { timeout_ms?: integer }
---@param ctx dapeer.Context
---@param bufnr? integer
---@return dapeer.lsp.Question
function M.question(args, ctx, bufnr)
  return { ctx = ctx, timeout = args.timeout_ms or M.DEADLINE, bufnr = bufnr }
end

---@class dapeer.lsp.Sent
---@field client vim.lsp.Client
---@field method string
---@field params any
---@field question dapeer.lsp.Question
---@field done fun(result: any, problem?: string)
---@field id? integer
---@field tries integer
---@field over boolean
---@field watches integer[]  autocommands
---@field stop_clock fun()

---@param sent dapeer.lsp.Sent
local function finish(sent, result, problem)
  if sent.over then
    return
  end
  sent.over = true
  sent.stop_clock()
  for _, watch in ipairs(sent.watches) do
    pcall(vim.api.nvim_del_autocmd, watch)
  end
  sent.done(result, problem)
end

---@param sent dapeer.lsp.Sent
local function cancel(sent, problem)
  if sent.over then
    return
  end
  finish(sent, nil, problem)
  if sent.id and not servers.stopped(sent.client) then
    servers.call(sent.client, 'cancel_request', sent.id)
  end
end

---@param sent dapeer.lsp.Sent
local function gone(sent)
  finish(
    sent,
    nil,
    ('%s has ended before it answered. nvim_lsp_clients shows which servers run.'):format(sent.client.name)
  )
end

---@param sent dapeer.lsp.Sent
local function send(sent)
  sent.tries = sent.tries + 1
  local try = sent.tries
  local function answered(err, result)
    if try ~= sent.tries then
      return -- it was cancelled, and answered even so; the text has changed since
    end
    if err and PASSING[err.code] and sent.tries < TRIES and not sent.over then
      return send(sent)
    end
    local why = err and (err.message or vim.inspect(err)):gsub('%s+', ' ')
    finish(sent, result, why and ('%s refuses %s: %s'):format(sent.client.name, sent.method, why))
  end
  local ok, id = servers.call(sent.client, 'request', sent.method, sent.params, answered, sent.question.bufnr)
  sent.id = id
  if not ok then
    gone(sent)
  end
end

---@param sent dapeer.lsp.Sent
local function watch(sent)
  local function on(event, callback)
    local made = vim.api.nvim_create_autocmd(event, {
      desc = 'dapeer: a request to a language server',
      callback = function(event_args)
        if not sent.over and event_args.data.client_id == sent.client.id then
          callback(event_args.data)
        end
      end,
    })
    table.insert(sent.watches, made)
  end
  on('LspDetach', function()
    if servers.stopped(sent.client) then
      gone(sent)
    end
  end)
  -- Neovim cancels what is under way when it asks the same for itself, as it does with diagnostics after
  -- each change; the answer to a cancelled request is dropped.
  on('LspRequest', function(data)
    if data.request_id == sent.id and data.request.type == 'cancel' then
      vim.schedule(function()
        if not sent.over and sent.tries < TRIES then
          send(sent)
        end
      end)
    end
  end)
end

---@param sent dapeer.lsp.Sent
local function too_late(sent, milliseconds)
  local busy = servers.busy(sent.client)
  local sentence = '%s has not answered %s within %d ms%s; the request was cancelled.'
    .. ' Ask again, with a larger `timeout_ms` if need be.'
  return sentence:format(
    sent.client.name,
    sent.method,
    milliseconds,
    #busy > 0 and (', it is busy (%s)'):format(table.concat(busy, ', ')) or ''
  )
end

---Send one request; `done` is called once.
---@param client vim.lsp.Client
---@param method string
---@param params any
---@param question dapeer.lsp.Question
---@param done fun(result: any, problem?: string)
function M.send(client, method, params, question, done)
  local milliseconds = question.timeout
  ---@type dapeer.lsp.Sent
  local sent = {
    client = client,
    method = method,
    params = params,
    question = question,
    done = done,
    tries = 0,
    over = false,
    watches = {},
    stop_clock = function() end,
  }
  sent.stop_clock = task.later(milliseconds, function()
    cancel(sent, too_late(sent, milliseconds))
  end)
  question.ctx.on_cancel(function()
    cancel(sent, 'The call was cancelled.')
  end)
  if not sent.over then
    watch(sent)
    send(sent)
  end
end

---Within a task: ask several servers at once; their answers, in the servers' order.
---@param clients vim.lsp.Client[]
---@param method string
---@param params fun(client: vim.lsp.Client): any
---@param question dapeer.lsp.Question
---@return dapeer.lsp.Answer[]
function M.all(clients, method, params, question)
  local answers, missing = {}, #clients
  if missing == 0 then
    return answers
  end
  return task.await(function(resume)
    for index, client in ipairs(clients) do
      M.send(client, method, params(client), question, function(result, problem)
        answers[index] = { client = client, result = result, problem = problem }
        missing = missing - 1
        if missing == 0 then
          resume(answers)
        end
      end)
    end
  end)
end

---Within a task: ask one server; the task fails when it does not answer.
---@param client vim.lsp.Client
---@param method string
---@param params any
---@param question dapeer.lsp.Question
---@return any result
function M.one(client, method, params, question)
  local result, problem = task.await(function(resume)
    M.send(client, method, params, question, resume)
  end)
  if problem then
    task.fail(problem)
  end
  return result
end

---What went wrong with some of several servers; the task fails when all of them failed.
---@param answers dapeer.lsp.Answer[]
---@return string[] problems
function M.problems(answers)
  local problems = {}
  for _, answer in ipairs(answers) do
    table.insert(problems, answer.problem)
  end
  if #answers > 0 and #problems == #answers then
    task.fail(table.concat(problems, ' '))
  end
  return problems
end

return M
