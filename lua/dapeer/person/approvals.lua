-- What the assistant may do only with the person's consent.
local M = {}

local actions = require('dapeer.person.actions')

---@type table<integer, table<dapeer.Kind, boolean>>  by core: kinds that need no more questions while it lives
local allowed = {}

---@class dapeer.Question
---@field id any
---@field action dapeer.Action
---@field to_approve dapeer.Kind[]  those of its kinds that the person wants to be asked about
---@field channel integer  of the core that asks
---@field window? dapeer.Consent  the person sees it
---@field over? boolean    a choice is of no interest any more
---@field done fun()        withdraws it from the waiting list
---@field wait? fun()       stops waiting for the person

---@type dapeer.Question[]  one at a time is shown, the first
local questions = {}

---@param action dapeer.Action
---@return dapeer.Kind[]
local function kinds_of(action)
  -- An older core names one.
  return action.kinds or { action.kind }
end

---@alias dapeer.Hold 'paused'|'stopped'

---The person lets no assistant act.
---@type dapeer.Hold?
local held

local HELD = {
  paused = 'The person has paused assistants in this Neovim; :Dapeer resume lets them go on',
  stopped = 'The person has ended what assistants may do in this Neovim; :Dapeer start lets them in again',
}

-- An older core does not tell its channel.
local UNKNOWN = 0

---@param channel integer
---@param kind dapeer.Kind
---@return boolean
local function is_allowed(channel, kind)
  return ((allowed[channel] or {})[kind] or (allowed[UNKNOWN] or {})[kind]) == true
end

---Which kinds of action of a core need a question.
---@param channel integer
---@return table<dapeer.Kind, boolean>
function M.wants(channel)
  local wants = {}
  for kind, rule in pairs(require('dapeer.config').get().approve) do
    -- A function is asked each time: it may refuse what is allowed otherwise.
    wants[kind] = held ~= nil or type(rule) == 'function' or (rule ~= false and not is_allowed(channel, kind))
  end
  return wants
end

---@param channel integer  of one core only, or UNKNOWN: of all
local function send_wants(channel)
  local rpc = require('dapeer.rpc')
  for _, core in ipairs(rpc.attached()) do
    if channel == UNKNOWN or core.channel == channel then
      rpc.send(core, 'approve', M.wants(core.channel))
    end
  end
end

---The options have changed: what was allowed for this session is asked again, and every core knows.
function M.reconsider()
  allowed = {}
  send_wants(UNKNOWN)
end

local function answer(id, allow, reason)
  require('dapeer.rpc').notify('consent', id, allow, reason)
end

local present

---@param question dapeer.Question
local function finish(question)
  question.over = true
  question.done()
  if question.wait then
    question.wait()
  end
  if question.window then
    require('dapeer.person.consent').close(question.window)
  end
  questions = vim.tbl_filter(function(other)
    return other ~= question
  end, questions)
  vim.schedule(present)
end

---Hold off every act of assistants, or let them act again; what waits for the person is denied.
---@param what dapeer.Hold?
function M.hold(what)
  held = what
  for _, question in ipairs(what and questions or {}) do
    finish(question)
    answer(question.id, false, HELD[what])
  end
  send_wants(UNKNOWN)
end

---@return dapeer.Hold?
function M.held()
  return held
end

---@param question dapeer.Question
---@param verdict dapeer.Verdict
local function decide(question, verdict)
  if question.over then
    return
  end
  finish(question)
  if verdict == 'deny' or verdict == 'none' then
    local reason = verdict == 'deny' and 'The person denied it.' or 'The person gave no consent.'
    return answer(question.id, false, reason)
  elseif verdict == 'session' then
    allowed[question.channel] = allowed[question.channel] or {}
    for _, kind in ipairs(question.to_approve) do
      allowed[question.channel][kind] = true
    end
    send_wants(question.channel)
  end
  answer(question.id, true)
end

---@param question dapeer.Question
local function show(question)
  local function done(verdict)
    decide(question, verdict)
  end
  local function closed(inside)
    question.window = nil
    if inside then
      return done('none')
    end
    -- Something else has closed it: it comes again.
    present()
  end
  local kinds = kinds_of(question.action)
  question.window = require('dapeer.person.consent').open(question.action, kinds, question.to_approve, done, closed)
end

function present()
  local question = questions[1]
  if question and not question.window and not question.wait then
    -- What the person writes is not covered while they write it.
    question.wait = require('dapeer.person.attention').when_free(function()
      question.wait = nil
      if not question.over and not question.window then
        show(question)
      end
    end)
    if question.window then
      question.wait = nil
    end
  end
end

---Answer the question that the person sees, or go there.
---@param verdict 'allow'|'session'|'deny'|'answer'
---@return string? problem
function M.command(verdict)
  local question = questions[1]
  if not question then
    return 'there is no question'
  end
  local seen = question.window ~= nil
  if not seen then
    show(question)
  end
  if verdict == 'answer' then
    require('dapeer.person.consent').enter(question.window)
  elseif verdict == 'deny' or seen then
    decide(question, verdict)
  else
    return 'here is the question; read it, and allow it then'
  end
end

---@param id any
---@param channel integer
---@param action dapeer.Action
---@param to_approve dapeer.Kind[]
local function question_person(id, channel, action, to_approve)
  if #vim.api.nvim_list_uis() == 0 then
    return answer(id, false, 'No person can answer in this Neovim: it has no user interface.')
  end
  local done = require('dapeer.person.waiting').add('a question waits for you: ' .. actions.described(action))
  table.insert(questions, { id = id, channel = channel, action = action, to_approve = to_approve, done = done })
  -- Never within the call: the core waits for its return, not for the person.
  vim.schedule(present)
  local attention = require('dapeer.person.attention')
  if attention.busy() then
    local text = 'a question for you when you have stopped typing: ' .. actions.described(action)
    vim.schedule(function()
      attention.say(text)
    end)
  end
end

-- What the person's options say of one kind: yes, no with the reason, or nil: ask the person.
---@param action dapeer.Action
---@param kind dapeer.Kind
---@return boolean? verdict
---@return string? reason
local function ruled(action, kind)
  local rule = require('dapeer.config').get().approve[kind]
  if not rule then
    return true
  elseif type(rule) ~= 'function' then
    return nil
  end
  local name = 'The function approve.' .. kind .. ' of Neovim'
  local ok, result = pcall(rule, vim.tbl_extend('force', action, { kind = kind }))
  if not ok then
    return false, ('%s failed: %s'):format(name, result)
  elseif result == false then
    return false, name .. ' refused.'
  end
  return result and true or nil
end

---Decide whether the assistant may do something; the answer goes to the core as `consent`. One question is about all
---kinds of the action.
---@param id any                of the core, which gets it back
---@param action dapeer.Action
---@param channel? integer      the core's
function M.ask(id, action, channel)
  channel = channel or UNKNOWN
  action = actions.without_null(action)
  if held then
    return answer(id, false, HELD[held])
  end
  -- A crashed core may have left a question with this number, whose answer must not count for this one.
  M.forget(id)
  local to_approve = {}
  for _, kind in ipairs(kinds_of(action)) do
    local verdict, reason = ruled(action, kind)
    if verdict == false then
      return answer(id, false, reason)
    elseif verdict == nil and not is_allowed(channel, kind) then
      table.insert(to_approve, kind)
    end
  end
  if #to_approve > 0 then
    question_person(id, channel, action, to_approve)
  else
    answer(id, true)
  end
end

---Nobody waits for the answer any more: a question goes, a late choice counts for nothing.
---@param id any
function M.forget(id)
  for _, question in ipairs(questions) do
    if question.id == id then
      finish(question)
    end
  end
end

---A core has ended: so do its questions, and what it was allowed.
---@param channel integer
function M.left(channel)
  allowed[channel] = nil
  for _, question in ipairs(questions) do
    if question.channel == channel then
      finish(question)
    end
  end
end

return M
