-- Neovim as the IDE of Claude Code. The core serves it; here is what the core cannot know: that it is wanted, what is
-- selected, and what the person sends.
local M = {}

---@type dapeer.ClaudeState
local state = require('dapeer.integrations.claude.state')
local watching = false -- this copy of the module does

-- The one of the whole Neovim; windows and tab pages may have others.
local function directory()
  return vim.fn.getcwd(-1, -1)
end

---The core that keeps this Neovim company is to serve; others that are attached are not.
local function report()
  local status = require('dapeer.core.supervisor').status()
  local wish = state.enabled and status.pid and { core = status.pid, cwd = directory() } or vim.empty_dict()
  require('dapeer.rpc').publish('ide', wish)
end

---Start the core, if there is none yet: Claude Code may look for it at any moment.
function M.start()
  local supervisor = require('dapeer.core.supervisor')
  if state.enabled and not supervisor.status().failure then
    supervisor.start()
  end
end

---The terminal of the Claude Code that was opened here; nil: none, or it has ended.
---@return integer? buffer
local function alive()
  local buffer = state.terminal and state.terminal.buffer
  if buffer and vim.api.nvim_buf_is_valid(buffer) then
    local job = vim.bo[buffer].channel
    if job > 0 and vim.fn.jobwait({ job }, 0)[1] == -1 then
      return buffer
    end
    require('dapeer.editor.windows').delete(buffer)
  end
  state.terminal = nil
end

local TAB = '[Claude Code]' -- in the names of its diffs
local REDRAWN = 500 -- ms in which it has put away what it asked

---Put the reason of a rejection into its prompt, for the person to send: Claude Code passes none on to its model.
---@param reason string
local function pass_on(reason)
  local buffer = state.connected == 1 and alive()
  if not buffer then
    return require('dapeer.person.waiting').mention(
      'Claude Code gets no reason of a rejection: write it into its prompt'
    )
  end
  vim.defer_fn(function()
    if alive() == buffer then
      -- As a paste, which is no key that answers or sends anything.
      local text = reason:gsub('%c', ' ')
      vim.api.nvim_chan_send(vim.bo[buffer].channel, ('\27[200~%s\27[201~'):format(text))
    end
  end, REDRAWN)
end

local function watch()
  local group = vim.api.nvim_create_augroup('dapeer_claude', { clear = true })
  vim.api.nvim_create_autocmd('User', {
    group = group,
    pattern = { 'DapeerReady', 'DapeerStopped' },
    callback = vim.schedule_wrap(function()
      state.port, state.connected, state.problem = nil, 0, nil
      report()
    end),
  })
  vim.api.nvim_create_autocmd('User', {
    group = group,
    pattern = 'DapeerDiffClosed',
    callback = function(event)
      local diff = event.data
      if diff.outcome == 'rejected' and diff.by_person and diff.reason and diff.tab_name:find(TAB, 1, true) then
        pass_on(diff.reason)
      end
    end,
  })
  vim.api.nvim_create_autocmd('DirChanged', { group = group, pattern = 'global', callback = report })
  require('dapeer.integrations.claude.selection').watch(group)
end

---Offer this Neovim to Claude Code.
function M.enable()
  if state.enabled and watching then
    return
  end
  state.enabled, watching = true, true
  watch()
  report()
end

---Offer it no longer.
function M.disable()
  if state.enabled then
    state.enabled, watching = false, false
    vim.api.nvim_del_augroup_by_name('dapeer_claude')
    report()
    state.port, state.connected = nil, 0
  end
end

---What a Claude Code of this Neovim's has in its environment.
---@return table<string, string>
local function environment()
  -- It would look for this Neovim behind a proxy of the person's otherwise.
  local direct = { '127.0.0.1' }
  for _, name in ipairs({ 'NO_PROXY', 'no_proxy' }) do
    direct[#direct + 1] = vim.env[name]
  end
  local hosts = table.concat(direct, ',')
  return {
    CLAUDE_CODE_SSE_PORT = tostring(state.port),
    ENABLE_IDE_INTEGRATION = 'true',
    NO_PROXY = hosts,
    no_proxy = hosts,
  }
end

---Show the terminal beside, or go to its window, and type there.
---@param buffer integer
local function focus(buffer)
  local window = vim.fn.bufwinid(buffer)
  if window ~= -1 then
    vim.api.nvim_set_current_win(window)
  elseif state.terminal.snacks then
    state.terminal.snacks:show()
    state.terminal.snacks:focus()
  else
    vim.cmd('botright vertical sbuffer ' .. buffer)
  end
  vim.cmd.startinsert()
end

---@param buffer integer
---@return string? problem
local function hide(buffer)
  local window = vim.fn.bufwinid(buffer)
  if state.terminal.snacks then
    state.terminal.snacks:hide()
  elseif not pcall(vim.api.nvim_win_hide, window) then
    return 'Claude Code is in the only window'
  end
end

---What `:Dapeer claude` does beside a Claude Code that was opened here: another one would be a second process.
---@param buffer integer
---@param words string[]
---@return string? told
local function again(buffer, words)
  if #words == 0 and vim.fn.bufwinid(buffer) ~= -1 then
    return hide(buffer)
  end
  focus(buffer)
  if #words > 0 and words[1] ~= 'focus' then
    return 'Claude Code runs already: /resume in it opens another conversation, /exit ends it'
  end
end

---@param words string[]  further arguments
local function terminal(words)
  words = words[1] == 'focus' and vim.list_slice(words, 2) or words
  local command = vim.list_extend({ 'claude' }, words)
  local options = { env = environment(), cwd = directory() }
  local ok, snacks = pcall(require, 'snacks')
  if ok and snacks.terminal then
    local window = snacks.terminal.open(command, vim.tbl_extend('error', options, { win = { position = 'right' } }))
    state.terminal = { buffer = window.buf, snacks = window }
    return
  end
  vim.cmd('botright vertical new')
  if vim.fn.has('nvim-0.11') == 1 then
    vim.fn.jobstart(command, vim.tbl_extend('force', options, { term = true }))
  else
    vim.fn.termopen(command, options)
  end
  state.terminal = { buffer = vim.api.nvim_get_current_buf() }
  vim.cmd.startinsert()
end

-- Open what was asked for a while ago. What the person types meanwhile never lands in it.
---@param words string[]
local function open_later(words)
  local attention = require('dapeer.person.attention')
  if attention.typing() then
    return vim.notify('dapeer: the core serves now: `:Dapeer claude` opens Claude Code')
  end
  attention.when_paused(function()
    if not alive() then
      terminal(words)
    end
  end)
end

---The core tells that it serves, and how many CLIs are connected.
---@param port integer
---@param connected integer
function M.served(port, connected)
  local came = connected > state.connected
  state.port, state.connected, state.problem = port, connected, nil
  if came then
    -- A CLI that has just come knows nothing.
    require('dapeer.integrations.claude.selection').report_again(connected == 1)
  end
  vim.cmd.redrawstatus({ bang = true })
  local arguments = state.arguments
  state.arguments = nil
  if arguments then
    open_later(arguments)
  end
end

---The core tells that it cannot serve.
---@param problem string
function M.failed(problem)
  state.port, state.connected, state.problem = nil, 0, problem
  if state.arguments then
    state.arguments = nil
    vim.notify('dapeer: Claude Code cannot connect: ' .. problem, vim.log.levels.WARN)
  end
end

---@return dapeer.ClaudeState
function M.status()
  return state
end

---Mention lines of the current file in the CLI's prompt.
---@param first integer  1-based
---@param last integer
---@return string? problem  a few words
function M.send(first, last)
  local bufnr = require('dapeer.editor.windows').current()
  local path = bufnr and require('dapeer.editor').path(bufnr) or ''
  if path == '' then
    return 'this buffer has no file'
  elseif require('dapeer.editor.secrets').covers(path) then
    return 'this file may hold secrets'
  elseif state.connected == 0 then
    return 'no Claude Code is connected: see :checkhealth dapeer'
  end
  local params = { filePath = path, lineStart = first - 1, lineEnd = last - 1 }
  require('dapeer.rpc').notify('ide_event', 'at_mentioned', params)
end

---Open Claude Code in a terminal beside, connected to this Neovim: at once, or when the core serves. One that was opened
---before is hidden, or shown again.
---Who asks for it wants this Neovim offered, whatever is configured.
---@param words string[]  further arguments
---@return string? told  a problem, or that it opens later
function M.open(words)
  local running = alive()
  if running then
    return again(running, words)
  end
  if vim.fn.executable('claude') == 0 then
    return 'there is no `claude` on PATH'
  end
  M.enable()
  if state.problem then
    return 'Claude Code cannot connect: ' .. state.problem
  elseif state.port then
    return terminal(words)
  end
  state.arguments = words
  require('dapeer.core.supervisor').start()
  return 'Claude Code opens once the core serves'
end

return M
