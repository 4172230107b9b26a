-- The command :Dapeer.
local M = {}

-- In a window of its own, since the person asked; the text of an open one is renewed.
---@param name string
---@param lines string[]
local function show(name, lines)
  local buffer = vim.fn.bufnr('^' .. name .. '$')
  if buffer == -1 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
    vim.bo[buffer].bufhidden = 'wipe'
    vim.bo[buffer].filetype = 'dapeer'
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.tbl_map(require('dapeer.results.fitting').escaped, lines))
  vim.bo[buffer].modifiable = false
  local window = vim.fn.bufwinid(buffer)
  if window == -1 then
    vim.cmd('botright split')
    window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(window, buffer)
  end
  vim.api.nvim_set_current_win(window)
  vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(buffer), 0 })
end

local function mention(sentence)
  require('dapeer.person.waiting').mention(sentence)
end

-- One line when all is well; else all that helps to find out why.
local function status()
  local now = require('dapeer').status()
  local collects = ''
  for _, summary in ipairs({
    require('dapeer.editor.collecting').summary() or '',
    require('dapeer.nvim_dap.exceptions').summary() or '',
  }) do
    collects = collects .. (summary ~= '' and '; ' .. summary or '')
  end
  if now.state == 'running' or (not now.failure and now.state ~= 'restarting') then
    return mention(now.summary .. collects)
  end
  local lines = { now.state, now.failure or 'The core crashed and will be started again.', '' }
  vim.list_extend(lines, { 'Command: ' .. table.concat(now.command or {}, ' '), 'It said:' })
  for _, line in ipairs(now.stderr) do
    table.insert(lines, '  ' .. line)
  end
  show('dapeer://status', lines)
end

local function log()
  local lines = require('dapeer.person.actions').lines()
  show('dapeer://log', #lines > 0 and lines or { 'The assistant has done nothing yet.' })
end

local function diffs()
  local lines = require('dapeer.diff').lines()
  if #lines == 0 then
    return mention('there is no diff to review')
  end
  show('dapeer://diffs', lines)
end

local function decide(what, reason)
  local problem = require('dapeer.diff').decide(what, reason)
  if problem then
    mention(problem)
  end
end

-- The first start may build the core, which takes seconds.
local function start()
  require('dapeer.person.approvals').hold(nil)
  if require('dapeer').status().state == 'running' then
    return status()
  end
  vim.api.nvim_create_autocmd('User', {
    group = vim.api.nvim_create_augroup('dapeer_command', { clear = true }),
    pattern = 'DapeerReady',
    once = true,
    callback = status,
  })
  require('dapeer').start()
  if require('dapeer').is_running() then
    mention('starting')
  end
end

local function claude(rest)
  local problem = require('dapeer.integrations.claude').open(vim.split(rest or '', ' ', { trimempty = true }))
  if problem then
    mention(problem)
  end
end

local function live()
  mention(require('dapeer.core.live').open())
end

---@param verdict 'allow'|'session'|'deny'|'answer'
local function consent(verdict)
  local problem = require('dapeer.person.approvals').command(verdict)
  if problem then
    mention(problem)
  end
end

---@type table<string, fun(rest: string?)>
local COMMANDS = {
  allow = function(rest)
    if rest and rest ~= 'session' then
      return mention(('there is no :Dapeer allow %s; there is: allow, allow session'):format(rest))
    end
    consent(rest or 'allow')
  end,
  deny = function()
    consent('deny')
  end,
  answer = function()
    consent('answer')
  end,
  claude = claude,
  start = start,
  stop = function()
    require('dapeer').stop()
    require('dapeer.person.approvals').hold('stopped')
    mention('stopped: no assistant may act in this Neovim; :Dapeer start lets them in again')
  end,
  restart = function()
    require('dapeer.person.approvals').hold(nil)
    require('dapeer').restart()
    mention('restarting')
  end,
  pause = function()
    require('dapeer.person.approvals').hold('paused')
    mention('paused: no assistant may act; :Dapeer resume lets them go on')
  end,
  resume = function()
    require('dapeer.person.approvals').hold(nil)
    mention('resumed: assistants may act again')
  end,
  status = status,
  live = live,
  log = log,
  diffs = diffs,
  follow = function()
    require('dapeer').follow()
  end,
  accept = function()
    decide('accept')
  end,
  reject = function(reason)
    decide('reject', reason)
  end,
}

-- What takes more words: a text for the assistant.
local WITH_TEXT = { reject = true, claude = true, allow = true }

-- What may follow a sub-command, word by word.
---@type table<string, string[]>
local SECOND = { allow = { 'session' } }

local function names()
  local all = vim.tbl_keys(COMMANDS)
  table.sort(all)
  return all
end

---@param words string[]
function M.run(words)
  local command = COMMANDS[words[1] or 'status']
  local text = words[2] and table.concat(words, ' ', 2)
  if not command or (text and not WITH_TEXT[words[1]]) then
    local known = table.concat(names(), ', ')
    local sentence = ('there is no :Dapeer %s; there is: %s'):format(table.concat(words, ' '), known)
    return require('dapeer.person.attention').say(sentence, vim.log.levels.ERROR)
  end
  command(text)
end

---@param lead string  the word so far
---@param line string  the command so far
---@return string[]
function M.complete(lead, line)
  local before = line:sub(1, #line - #lead):match('Dap%a*%s+(.*)$')
  local known = before == '' and names() or SECOND[vim.trim(before or '')] or {}
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, known)
end

return M
