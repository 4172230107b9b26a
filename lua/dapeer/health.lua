-- :checkhealth dapeer
local M = {}

-- Before Neovim 0.10, which is too old, the names were others.
local health = vim.health or require('health')
if not health.start then
  health = { start = health.report_start, error = health.report_error }
end

local VERSION_PATIENCE = 10 * 1000 -- ms; `uv run` may have to install first

local function check_neovim()
  local problem = require('dapeer.needs').lacking()
  if problem then
    health.error(problem)
  else
    health.ok('Neovim ' .. tostring(vim.version()))
  end
  return problem == nil
end

-- The version of the core, or why it is unknown. The person waits for it.
local function version_of(command)
  local started, process = pcall(vim.system, vim.list_extend(vim.list_slice(command), { '--version' }))
  if not started then
    return nil, require('dapeer.core.process').why(process, command[1])
  end
  local result = process:wait(VERSION_PATIENCE)
  if result.code == 0 then
    return vim.trim(result.stdout)
  end
  return nil, vim.trim(result.stderr)
end

local function check_core()
  local command, problem = require('dapeer.core.executable').find()
  if not command then
    return health.error(problem)
  end
  local words = table.concat(command, ' ')
  local version, why = version_of(command)
  if version then
    health.ok(('%s: `%s`'):format(version, words))
  else
    health.error(('`%s` does not run: %s'):format(words, why), 'Try it in a terminal.')
  end
  local python = vim.fn.exepath('python3')
  if python == '' then
    health.info('No python3 on PATH: name an interpreter when you debug Python programs.')
  else
    health.info('Python on PATH: ' .. python)
  end
end

local function check_life()
  local status = require('dapeer').status()
  if status.failure then
    health.error(status.failure, { 'It said: ' .. table.concat(status.stderr, '\n'), 'Then: :Dapeer start' })
  elseif status.state == 'running' then
    health.ok(status.summary)
  else
    health.info(status.summary)
  end
  -- A crashed core stays in the list until a notification to it fails.
  local attached = vim.tbl_filter(function(core)
    return not require('dapeer.rpc').has_ended(core.channel)
  end, require('dapeer.rpc').attached())
  health.info(('%d core(s) attached to this Neovim'):format(#attached))
  health.info(require('dapeer.editor.collecting').summary() or 'No assistant collects values')
end

-- Sessions that began before setup(), or with `tap = false`.
local function check_sessions()
  local sessions, has = require('dap').sessions(), require('dapeer.nvim_dap.tap').has
  local number = 0
  for id in pairs(sessions) do
    number = number + (has(id) and 0 or 1)
  end
  if number > 0 then
    local advice = 'Call setup() before you start a session; start these again.'
    health.warn(('%d running session(s) do not answer while Neovim waits for a key'):format(number), advice)
  end
end

local function check_internals()
  local used = {}
  for _, place in ipairs(require('dapeer.nvim_dap.internals').list()) do
    if place.problem then
      health.warn(('nvim-dap: %s is not patched, since %s; effect: %s'):format(place.name, place.problem, place.lost))
    else
      used[#used + 1] = place.name
    end
  end
  health.info('dapeer relies on these internals of nvim-dap: ' .. table.concat(used, '; '))
end

local function check_dap()
  if not pcall(require, 'dap') then
    return health.warn(
      'nvim-dap is not installed: the assistant can debug, but you do not see it in Neovim.',
      'Install nvim-dap.'
    )
  end
  local ok, possible, why = pcall(function()
    return require('dapeer.nvim_dap.tap').possible()
  end)
  check_sessions()
  if ok and possible then
    health.ok('nvim-dap; its sessions answer the assistant also while Neovim waits for a key')
  else
    health.warn(
      ('nvim-dap; its sessions do not answer while Neovim waits for a key: %s'):format(ok and why or possible)
    )
  end
  check_internals()
end

---@param tools dapeer.Tool[]
local function named(tools)
  return table.concat(
    vim.tbl_map(function(tool)
      return 'nvim_' .. tool.name
    end, tools),
    ', '
  )
end

local function check_tools()
  local registry, groups = require('dapeer.registry'), require('dapeer.tools')
  local served = vim.tbl_filter(function(tool)
    return not require('dapeer.registry.problems').has('core', tool.name)
  end, registry.list())
  for _, group in ipairs(groups.GROUPS) do
    local all = groups.group(group)
    local on = vim.tbl_filter(function(tool)
      return tool.group == group
    end, served)
    if #on == 0 then
      local how = ('setup({ tools = { %s = true } }) switches it on'):format(group)
      health.info(('%s (off; %s): %s'):format(group, how, named(all)))
    else
      local how = ('setup({ tools = { %s = false } }) switches it off'):format(group)
      local away = vim.tbl_filter(function(tool)
        return not registry.find(tool.name)
      end, all)
      local gone = #away > 0 and ('; unregistered: ' .. named(away)) or ''
      health.ok(('%s (%s): %s%s'):format(group, how, named(on), gone))
    end
  end
  local own = vim.tbl_filter(function(tool)
    return not tool.group
  end, served)
  local how = "unregister('name') removes a tool, built-in ones too"
  health.info(('your own (%s): %s'):format(how, #own > 0 and named(own) or 'none'))
  for _, problem in ipairs(registry.problems()) do
    health.warn(problem)
  end
end

-- One line for a directory of OpenCode's.
---@param entry dapeer.OpenCodeEntry
local function check_opencode_in(entry)
  local place = ('%s in %s'):format(entry.url, entry.directory)
  if entry.channel then
    local replaced = entry.own and ', which replace those of its own configuration' or ''
    health.ok(('%s has the tools, as `%s`%s'):format(place, entry.name, replaced))
  elseif entry.problem then
    health.warn(('%s has no tools: %s'):format(place, entry.problem))
  elseif not require('dapeer').is_running() then
    health.warn(place .. ' has no tools, since no core runs (:Dapeer start)')
  else
    health.info(place .. ' will have the tools in a moment')
  end
  for _, name in ipairs(entry.channel and entry.twice or {}) do
    local advice = 'Name it `dapeer` there: then one replaces the other.'
    health.warn(('%s has the tools twice: also as `%s`, from its own configuration'):format(place, name), advice)
  end
end

local function check_opencode()
  if not require('dapeer.config').get().integrations.opencode then
    local how = 'setup({ integrations = { opencode = true } }) gives it the tools'
    return health.info(('OpenCode in opencode.nvim (off; %s)'):format(how))
  end
  local status = require('dapeer.integrations.opencode').status()
  vim.tbl_map(check_opencode_in, status.entries)
  if not status.loaded and not status.url then
    local url = 'https://github.com/sudo-tee/opencode.nvim'
    health.info(('opencode.nvim is not loaded (yet): open OpenCode, or install %s'):format(url))
  elseif not status.url then
    health.info('opencode.nvim has no server (yet): open OpenCode, and its sessions have the tools')
  end
end

local function check_claude()
  local status = require('dapeer.integrations.claude').status()
  if not status.enabled then
    local how = ':Dapeer claude opens it here; with setup({ integrations = { claude = true } }) any finds this Neovim'
    return health.info(('Claude Code (off; %s)'):format(how))
  elseif status.problem then
    health.warn(('Claude Code cannot connect: %s'):format(status.problem))
  elseif not status.port then
    health.warn('Claude Code cannot connect, since no core runs (:Dapeer start)')
  elseif status.connected > 0 then
    health.ok(('%d Claude Code connected, port %d'):format(status.connected, status.port))
  else
    local how = ':Dapeer claude opens it here; elsewhere it connects by itself if it runs in this directory, or by /ide'
    health.info(('No Claude Code is connected, port %d; %s'):format(status.port, how))
  end
  if package.loaded['claudecode'] then
    health.warn('claudecode.nvim is loaded, too', 'Claude Code connects by itself only if one IDE has its directory.')
  end
end

local function check_options()
  local config = require('dapeer.config')
  for _, problem in ipairs(config.problems) do
    health.warn('setup: ' .. problem)
  end
  health.info('In force: ' .. vim.inspect(config.get()))
end

function M.check()
  health.start('dapeer: what it needs')
  if not check_neovim() then
    return
  end
  check_core()
  health.start('dapeer: the core of this Neovim')
  check_life()
  health.start('dapeer: nvim-dap')
  check_dap()
  health.start('dapeer: tools in Lua')
  check_tools()
  health.start('dapeer: OpenCode')
  check_opencode()
  health.start('dapeer: Claude Code')
  check_claude()
  health.start('dapeer: options')
  check_options()
end

return M
