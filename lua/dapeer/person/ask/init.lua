-- Questions of an assistant to the person, one at a time: shown when the person is not typing, and answered, refused
-- or taken back.
local M = {}

local attention = require('dapeer.person.attention')
local float = require('dapeer.person.ask.float')

---@class dapeer.ask.Question
---@field question string
---@field choices? string[]  without them the person writes
---@field multiple? boolean  several of them
---@field other? boolean     false: nothing but the choices
---@field default? integer   1-based: the choice that the cursor is on

---@class dapeer.ask.Answer
---@field question string
---@field answer string|string[]
---@field written? boolean   the person's own words, though there were choices

---@class dapeer.ask.Request
---@field questions dapeer.ask.Question[]
---@field answers dapeer.ask.Answer[]
---@field done fun(answers: dapeer.ask.Answer[], complete: boolean, problem?: string)
---@field shown fun()          the person sees it
---@field floats dapeer.ask.Float[]
---@field back? dapeer.Focus   where the person was
---@field mode? string         their mode, before the first question
---@field started? boolean
---@field over? boolean
---@field wait? fun()          stops waiting for the person
---@field gone fun()           withdraws it from the waiting list

---@type dapeer.ask.Request[]  the first one is shown, or waits for the person
local queue = {}

local present, show

---@param request dapeer.ask.Request
---@return boolean inside  the person was there
local function close(request)
  ---@type boolean
  local inside = vim.iter(request.floats):any(function(window)
    return window.window == vim.api.nvim_get_current_win()
  end)
  for _, window in ipairs(request.floats) do
    float.close(window)
  end
  request.floats = {}
  if inside then
    attention.refocus(request.back)
  end
  return inside
end

---Close for good; who was in a terminal types on there.
---@param request dapeer.ask.Request
local function close_all(request)
  if close(request) and request.mode == 't' and vim.bo.buftype == 'terminal' then
    vim.cmd.startinsert()
  end
end

---@param request dapeer.ask.Request
local function leave(request)
  request.over = true
  request.gone()
  queue = vim.tbl_filter(function(other)
    return other ~= request
  end, queue)
  vim.schedule(present)
end

---@param request dapeer.ask.Request
---@param problem? string
local function finish(request, problem)
  if not request.over then
    close_all(request)
    leave(request)
    request.done(request.answers, #request.answers == #request.questions, problem)
  end
end

---@param request dapeer.ask.Request
---@param answer string|string[]
---@param written? boolean
local function take(request, answer, written)
  if request.over then
    return
  end
  local question = request.questions[#request.answers + 1]
  table.insert(request.answers, { question = question.question, answer = answer, written = written })
  if #request.answers == #request.questions then
    return finish(request)
  end
  close(request)
  -- The keys of the answer are used up first.
  request.wait = attention.when_typed(vim.schedule_wrap(function()
    show(request)
  end))
end

---@param request dapeer.ask.Request
local function title(request)
  local count, number = #request.questions, #request.answers + 1
  return count == 1 and 'The assistant asks' or ('The assistant asks, %d of %d'):format(number, count)
end

---@param request dapeer.ask.Request
---@param question dapeer.ask.Question
---@param chosen? string[]  what is marked already
local function write(request, question, chosen)
  local window = require('dapeer.person.ask.writing').open(question.question, title(request), {
    written = function(text)
      local answer = question.multiple and vim.list_extend(chosen or {}, { text }) or text
      take(request, answer, question.choices ~= nil or nil)
    end,
    closed = function()
      finish(request)
    end,
  })
  table.insert(request.floats, window)
end

---@param request dapeer.ask.Request
---@param question dapeer.ask.Question
local function choose(request, question)
  local choice
  choice = require('dapeer.person.ask.choice').open(question, title(request), {
    picked = function()
      local answer = choice:picked()
      if answer then
        return take(request, answer)
      end
      local marked = choice:marked()
      close(request)
      write(request, question, marked)
    end,
    closed = function()
      finish(request)
    end,
  })
  table.insert(request.floats, choice.float)
end

---@param request dapeer.ask.Request
function show(request)
  if request.over then
    return
  end
  request.back = attention.focus()
  request.mode = request.mode or vim.api.nvim_get_mode().mode
  local question = request.questions[#request.answers + 1]
  local ask = question.choices and choose or write
  local ok, problem = pcall(ask, request, question)
  if not ok then
    local sentence = 'the question cannot be shown: ' .. tostring(problem)
    attention.say(sentence, vim.log.levels.WARN)
    return finish(request, sentence)
  end
  request.shown()
end

function present()
  local request = queue[1]
  if request and not request.started then
    request.started = true
    request.wait = attention.when_free(function()
      show(request)
    end)
  end
end

-- Keys that are on their way to the answer must not hit the person's file: it goes when they stop.
---@param request dapeer.ask.Request
local function withdraw(request)
  local inside = vim.iter(request.floats):find(function(window)
    return window.window == vim.api.nvim_get_current_win()
  end)
  if inside and attention.busy() then
    float.retitle(inside, 'No longer asked')
    attention.when_free(function()
      close_all(request)
    end)
  else
    close_all(request)
  end
end

---Ask the person.
---@param questions dapeer.ask.Question[]
---@param done fun(answers: dapeer.ask.Answer[], complete: boolean, problem?: string)  complete: false when the person
---gave no answer; problem: why they could not be asked
---@param shown? fun()
---@return fun() cancel  withdraws the question; `done` is not called then
function M.ask(questions, done, shown)
  local request = {
    questions = questions,
    answers = {},
    done = done,
    shown = shown or function() end,
    floats = {},
    gone = require('dapeer.person.waiting').add('a question waits for you: ' .. questions[1].question),
  }
  table.insert(queue, request)
  -- Never within the call: the core waits for its return, not for the person.
  vim.schedule(function()
    if not request.over and (attention.busy() or queue[1] ~= request) then
      local when = queue[1] == request and 'when you have stopped typing' or 'after this one'
      attention.say(('a question for you %s: %s'):format(when, questions[1].question))
    end
    present()
  end)
  return function()
    if not request.over then
      if request.wait then
        request.wait()
      end
      withdraw(request)
      leave(request)
    end
  end
end

return M
