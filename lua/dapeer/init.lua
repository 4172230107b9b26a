-- The functions that a person's configuration calls. Each loads what it needs when it is called.
local lacking = require('dapeer.needs').lacking()
if lacking then
  return require('dapeer.needs').stub(lacking)
end

---@class dapeer.Module
local M = setmetatable({}, {
  __index = function(M, name)
    -- Helpers for results of tools.
    if name == 'MCP' then
      M.MCP = require('dapeer.results')
      return M.MCP
    end
  end,
})

-- A plugin manager that resets the package path has not sourced the file that does.
local function define_commands()
  if not vim.g.loaded_dapeer then
    local here = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h')
    dofile(here .. '/../../plugin/dapeer.lua')
  end
end

---Tell the plugin what you want of it; may be called again, and then changes only what it names.
---@param options? dapeer.Options
function M.setup(options)
  local config = require('dapeer.config')
  local problems = config.merge(options)
  if #problems > 0 then
    require('dapeer.person.attention').warn('setup: ' .. table.concat(problems, '; '))
  end
  options = type(options) == 'table' and options or {}
  local ok, problem = pcall(function()
    require('dapeer.nvim_dap').install()
  end)
  if not ok then
    require('dapeer.person.attention').warn('cannot watch nvim-dap: ' .. problem)
  end
  if package.loaded['dapeer.person.approvals'] and options.approve then
    require('dapeer.person.approvals').reconsider()
  end
  if package.loaded['dapeer.rpc'] and options.secrets then
    require('dapeer.rpc').notify('secrets', config.get().secrets)
  end
  M._set_up_tools(options)
  M._set_up_opencode()
  M._set_up_claude()
  if config.get().auto_start then
    M._when_up('dapeer_start', M.start)
  end
  M._when_up('dapeer_knock', function()
    define_commands()
    require('dapeer.core.knock').knock()
  end)
end

-- The registry is loaded only when tools are needed; it may have been filled with earlier options.
function M._set_up_tools(options)
  local custom = type(options.custom_tools) == 'table'
  if not custom and not require('dapeer.kept').used('registry') then
    return
  end
  local registry = require('dapeer.registry')
  if type(options.tools) == 'table' then
    registry.restore(options.tools)
  end
  if custom then
    registry.customize(options.custom_tools)
  else
    registry.changed()
  end
end

function M._set_up_opencode()
  if require('dapeer.config').get().integrations.opencode then
    require('dapeer.integrations.opencode').enable()
  elseif require('dapeer.kept').used('opencode') then
    require('dapeer.integrations.opencode').disable()
  end
end

function M._set_up_claude()
  if require('dapeer.config').get().integrations.claude then
    local claude = require('dapeer.integrations.claude')
    claude.enable()
    M._when_up('dapeer_claude_start', claude.start)
  elseif require('dapeer.kept').used('claude') then
    require('dapeer.integrations.claude').disable()
  end
end

-- Once Neovim is up, so that nothing is added to its start.
function M._when_up(group, action)
  if vim.v.vim_did_enter == 1 then
    return vim.schedule(action)
  end
  vim.api.nvim_create_autocmd('VimEnter', {
    group = vim.api.nvim_create_augroup(group, { clear = true }),
    once = true,
    callback = vim.schedule_wrap(function()
      action()
    end),
  })
end

---Start the core; nothing happens when it runs or is starting.
---@param options? dapeer.StartOptions
function M.start(options)
  require('dapeer.core.supervisor').start(options)
end

---Stop the core; it ends its debug sessions first.
function M.stop()
  require('dapeer.core.supervisor').stop()
end

---Stop the core, then start one as before.
function M.restart()
  require('dapeer.core.supervisor').restart()
end

---Whether the core runs or is starting; `get_port()` says whether it listens.
---@return boolean
function M.is_running()
  return require('dapeer.kept').used('life') and require('dapeer.core.supervisor').is_running()
end

---@return dapeer.Status
function M.status()
  return require('dapeer.core.supervisor').status()
end

---Where the core listens; nil until it does.
---@return integer?
function M.get_port()
  return M.status().port
end

---The URL for MCP clients; nil until the core listens.
---@return string?
function M.get_url()
  return require('dapeer.core.supervisor').url()
end

---What clients show as `Authorization: Bearer TOKEN`. Never put it on a command line: everybody
---on the machine could read it there.
---@return string?  nil when no core runs
function M.get_token()
  return require('dapeer.core.supervisor').token()
end

---Go to where the assistant's program has stopped: what `:Dapeer follow` does, for a mapping.
function M.follow()
  require('dapeer.nvim_dap.follow').follow()
end

---Add a tool written in Lua; one of the same name is replaced.
---@param tool dapeer.Tool
function M.register(tool)
  require('dapeer.registry').register(tool)
end

---Remove a tool.
---@param name string
---@return boolean  whether there was one
function M.unregister(name)
  return require('dapeer.registry').unregister(name)
end

---The tools written in Lua, by name.
---@return dapeer.Tool[]
function M.list_tools()
  return require('dapeer.registry').list()
end

return M
