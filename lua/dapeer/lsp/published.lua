-- Diagnostics that servers send without being asked. Neovim keeps them, but not which state of the text they
-- are about; that is noted here, from a client's first look on.
local M = {}

local servers = require('dapeer.lsp.servers')
local task = require('dapeer.lsp.task')

local METHOD = 'textDocument/publishDiagnostics'

---How long a server gets that may have nothing to say. Milliseconds.
M.PATIENCE = 2000
---After diagnostics of which the server has not said which state they are about: older ones may have been
---on their way. Milliseconds.
local SETTLE = 100

---@class dapeer.lsp.Published
---@field ticks table<string, integer>  by URI: the state of the buffer that they are about
---@field silent boolean                a whole wait was in vain

---@type table<integer, dapeer.lsp.Published>  by client
local noted = {}
---@type table<fun(client: vim.lsp.Client, uri: string, exact: boolean), boolean>
local listeners = {}

-- The state of a buffer that the servers have got, or will get soon.
local function version(bufnr)
  return vim.lsp.util.buf_versions[bufnr] or 0
end

---@param client vim.lsp.Client
---@param params lsp.PublishDiagnosticsParams
local function note(client, params)
  local bufnr
  for _, each in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(each) and vim.uri_from_bufnr(each) == params.uri then
      bufnr = each
    end
  end
  if not bufnr then
    return
  end
  noted[client.id].silent = false
  noted[client.id].ticks[params.uri] = params.version or version(bufnr)
  for listener in pairs(vim.tbl_extend('force', {}, listeners)) do
    listener(client, params.uri, params.version ~= nil)
  end
end

---Note what a client publishes from now on.
---@param client vim.lsp.Client
---@return dapeer.lsp.Published
function M.watch(client)
  if noted[client.id] then
    return noted[client.id]
  end
  noted[client.id] = { ticks = {}, silent = false }
  local own = client.handlers[METHOD]
  client.handlers[METHOD] = function(err, params, ...)
    local handler = own or vim.lsp.handlers[METHOD]
    local result = handler and handler(err, params, ...)
    if params and params.uri then
      pcall(note, client, params)
    end
    return result
  end
  return noted[client.id]
end

local function fresh(client, bufnr, uri)
  return (noted[client.id].ticks[uri] or -1) >= version(bufnr)
end

-- Neovim holds changes back for some time, in case more come.
local function send_changes(client, bufnr)
  pcall(function()
    require('vim.lsp._changetracking').flush(client, bufnr)
  end)
end

---@type table<integer, true>  buffers whose text a tool has sent to servers that have not published diagnostics for it
local unheard = {}

---A tool has loaded a buffer, or read it anew.
---@param bufnr integer
function M.brought(bufnr)
  unheard[bufnr] = true
end

---Whether servers may still have to publish diagnostics for a text that a tool has sent them.
---@param bufnr integer
---@return boolean
function M.unheard(bufnr)
  return unheard[bufnr] or false
end

---@param client vim.lsp.Client
---@param bufnr integer
---@param question dapeer.lsp.Question
---@return boolean  whether it has published diagnostics for a buffer's current text
local function wait(client, bufnr, question)
  local state = M.watch(client)
  local uri = vim.uri_from_bufnr(bufnr)
  send_changes(client, bufnr)
  if fresh(client, bufnr, uri) then
    return true
  elseif state.silent then
    return false
  end
  local listener ---@type fun(client: vim.lsp.Client, uri: string, exact: boolean)
  local stop_clock ---@type fun()
  local stop_settling = function() end
  local came = task.await(function(resume)
    stop_clock = task.later(math.min(M.PATIENCE, question.timeout), function()
      resume(false)
    end)
    question.ctx.on_cancel(function()
      resume(false)
    end)
    listener = function(other, of, exact)
      if other.id ~= client.id or of ~= uri or not fresh(client, bufnr, uri) then
        return
      end
      stop_settling()
      stop_settling = task.later(exact and 0 or SETTLE, function()
        resume(true)
      end)
    end
    listeners[listener] = true
  end)
  listeners[listener] = nil
  stop_clock()
  stop_settling()
  state.silent = not came and next(state.ticks) == nil and question.timeout >= M.PATIENCE
  return came and not servers.stopped(client)
end

---Within a task: wait until clients have published diagnostics for a buffer's current text.
---@param clients vim.lsp.Client[]  that cannot be asked
---@param bufnr integer
---@param question dapeer.lsp.Question
---@return string[]  a sentence for each that has not
function M.wait(clients, bufnr, question)
  local notes = {}
  for _, client in ipairs(clients) do
    if not wait(client, bufnr, question) then
      local name = require('dapeer.editor').name(bufnr)
      table.insert(
        notes,
        ('%s has sent nothing new about %s; its earlier diagnostics are used.'):format(client.name, name)
      )
    end
  end
  -- A server that had all the time has nothing to publish.
  if #notes == 0 or question.timeout >= M.PATIENCE then
    unheard[bufnr] = nil
  end
  return notes
end

return M
