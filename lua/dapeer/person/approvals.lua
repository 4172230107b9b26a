-- What the assistant may do only with the person's consent.
local M = {}

local actions = require('dapeer.person.actions')

local ONCE, DENY = 'Allow once', 'Deny'

---@type table<dapeer.Kind, boolean>  kinds that need no more questions until Neovim ends
local allowed = {}

---@class dapeer.Question
---@field id any
---@field action dapeer.Action
---@field asked dapeer.Kind[]  those of its kinds that the person wants to be asked about
---@field shown? boolean   the person sees it
---@field over? boolean    a choice is of no interest any more
---@field done fun()        withdraws it from the waiting list
---@field withdraw? fun()   removes the question's window

---@type dapeer.Question[]  one at a time is shown, the first
local questions = {}

---@param action dapeer.Action
---@return dapeer.Kind[]
local function kinds_of(action)
  -- An older core names one.
  return action.kinds or { action.kind }
end

---Which kinds of action need a question.
---@return table<dapeer.Kind, boolean>
function M.wants()
  local wants = {}
  for kind, rule in pairs(require('dapeer.config').get().approve) do
    -- A function is asked each time: it may refuse what is allowed otherwise.
    wants[kind] = type(rule) == 'function' or (rule ~= false and not allowed[kind])
  end
  return wants
end

---The options have changed: what was allowed for this session is asked again, and every core knows.
function M.reconsider()
  allowed = {}
  require('dapeer.rpc').notify('approve', M.wants())
end

local function answer(id, allow, reason)
  require('dapeer.rpc').notify('consent', id, allow, reason)
end

local present

---@param question dapeer.Question
local function finish(question)
  question.over = true
  question.done()
  for index, other in ipairs(questions) do
    if other == question then
      table.remove(questions, index)
    end
  end
  vim.schedule(present)
end

---@param question dapeer.Question
---@param choice string?
local function decide(question, choice)
  if question.over then
    return
  end
  finish(question)
  if choice == ONCE then
    answer(question.id, true)
  elseif choice == DENY or not choice then
    answer(question.id, false, choice and 'The person denied it.' or 'The person gave no consent.')
  else
    for _, kind in ipairs(question.asked) do
      allowed[kind] = true
    end
    require('dapeer.rpc').notify('approve', M.wants())
    answer(question.id, true)
  end
end

local waiting = false -- until the person has stopped typing

-- Neovim's own `vim.ui.select` waits for a key, so dapeer opens a window. A replaced `vim.ui.select` is used.
local function is_neovims(select)
  return vim.endswith(debug.getinfo(select, 'S').source, 'vim/ui.lua')
end

---@param question dapeer.Question
---@param prompt string
---@param choices string[]
local function ask_in_window(question, prompt, choices)
  local asked = { question = prompt, choices = choices, other = false, default = #choices }
  question.withdraw = require('dapeer.person.ask').ask({ asked }, function(answers, complete)
    question.withdraw = nil
    decide(question, complete and answers[1].answer --[[@as string]] or nil)
  end)
end

---@param question dapeer.Question
local function show(question)
  question.shown = true
  local wants = actions.one_line(actions.described(question.action))
  local prompt = ('The assistant wants %s (%s): '):format(wants, table.concat(kinds_of(question.action), ', '))
  local session = ('Allow %s for this session'):format(table.concat(question.asked, ', '))
  local choices = { ONCE, session, DENY }
  if is_neovims(vim.ui.select) then
    return ask_in_window(question, prompt, choices)
  end
  local options = { prompt = prompt, kind = 'dapeer' }
  local ok, problem = pcall(vim.ui.select, choices, options, function(choice)
    decide(question, choice)
  end)
  if not ok then
    decide(question, nil)
    require('dapeer.person.attention').say('vim.ui.select failed: ' .. tostring(problem), vim.log.levels.WARN)
  end
end

function present()
  local question = questions[1]
  if not question or question.shown or waiting then
    return
  end
  -- Keys meant for a text must not answer a question.
  waiting = true
  require('dapeer.person.attention').when_free(function()
    waiting = false
    if questions[1] then
      show(questions[1])
    end
  end)
end

---@param id any
---@param action dapeer.Action
---@param asked dapeer.Kind[]
local function question_person(id, action, asked)
  if #vim.api.nvim_list_uis() == 0 then
    return answer(id, false, 'No person can answer in this Neovim: it has no user interface.')
  end
  local done = require('dapeer.person.waiting').add('a question waits for you: ' .. actions.described(action))
  table.insert(questions, { id = id, action = action, asked = asked, done = done })
  -- Never within the call: the core waits for its return, not for the person.
  vim.schedule(present)
  local attention = require('dapeer.person.attention')
  if attention.typing() then
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
function M.ask(id, action)
  action = actions.without_null(action)
  -- A crashed core may have left a question with this number, whose answer must not count for this one.
  M.forget(id)
  local asked = {}
  for _, kind in ipairs(kinds_of(action)) do
    local verdict, reason = ruled(action, kind)
    if verdict == false then
      return answer(id, false, reason)
    elseif verdict == nil and not allowed[kind] then
      table.insert(asked, kind)
    end
  end
  if #asked > 0 then
    question_person(id, action, asked)
  else
    answer(id, true)
  end
end

---Nobody waits for the answer any more: a question goes, a late choice counts for nothing.
---@param id any
function M.forget(id)
  for _, question in ipairs(vim.list_slice(questions)) do
    if question.id == id then
      finish(question)
      if question.withdraw then
        question.withdraw()
      end
    end
  end
end

return M
