--- What the person could start in nvim-dap, and starting it in nvim-dap's own way.
local M = {}

local DEEPEST = 12

---@return table? dap nil when there is no nvim-dap
local function nvim_dap()
  local ok, dap = pcall(require, 'dap')
  return ok and type(dap) == 'table' and dap or nil
end

-- What there is -----------------------------------------------------------------------------------

---The adapter types of nvim-dap; empty without nvim-dap.
---@return string[]
function M.types()
  local dap = nvim_dap()
  local types = dap and vim.tbl_keys(dap.adapters) or {}
  table.sort(types)
  return types
end

---The question to the person in a text, if any: nvim-dap would open a picker, or send the text unchanged.
---@param text string
---@return string?
local function question_in(text)
  return text:match('%${command:[^}]*}') or text:match('%${input:[^}]*}')
end

---@param value any
---@return boolean
local function is_plain(value)
  local kind = type(value)
  if kind == 'number' then
    return value == value and math.abs(value) ~= math.huge
  end
  return kind == 'string' or kind == 'boolean' or value == vim.NIL
end

---Copy the part of a value that fits JSON; questions to the person are left out and listed.
---@param value any
---@param path string
---@param asks string[]
---@param above table<table, true> the tables that we are in
---@param depth integer
---@return any
local function copied(value, path, asks, above, depth)
  local kind = type(value)
  local wants = kind == 'function' and 'a function'
    or kind == 'thread' and 'a coroutine'
    or kind == 'string' and question_in(value)
  if wants then
    asks[#asks + 1] = path .. ': ' .. wants
    return nil
  elseif kind ~= 'table' then
    return is_plain(value) and value or nil
  elseif above[value] or depth > DEEPEST then
    return nil
  end
  above[value] = true
  local list = next(value) ~= nil and vim.islist(value)
  local copy = list and {} or next(value) == nil and value or {}
  for key, item in pairs(value) do
    local place = list and ('%s[%d]'):format(path, key - 1) or (path == '' and '' or path .. '.') .. tostring(key)
    local item_copy = copied(item, place, asks, above, depth + 1)
    if list then
      copy[#copy + 1] = item_copy
    else
      copy[tostring(key)] = item_copy
    end
  end
  above[value] = nil
  return copy
end

---@param config table
---@return boolean whether it is made anew each time, by code that may ask
local function is_computed(config)
  local meta = getmetatable(config)
  return type(meta) == 'table' and type(meta.__call) == 'function'
end

---@param config table
---@return table copy, string[] asks
local function described(config)
  local asks = {}
  local copy = copied(config, '', asks, {}, 0)
  table.sort(asks)
  return copy, is_computed(config) and { '(computed)' } or asks
end

---Each configuration once, though several filetypes may share it.
---@return fun(): string?, table? filetype and configuration
local function each_configuration()
  local dap = nvim_dap()
  local filetypes = dap and vim.tbl_keys(dap.configurations) or {}
  table.sort(filetypes)
  return coroutine.wrap(function()
    local seen = {}
    for _, filetype in ipairs(filetypes) do
      local list = dap.configurations[filetype]
      for _, config in ipairs(type(list) == 'table' and list or {}) do
        if type(config) == 'table' and not seen[config] then
          seen[config] = true
          coroutine.yield(filetype, config)
        end
      end
    end
  end)
end

---What the person has configured in `dap.configurations`. launch.json is read elsewhere.
---@return { name: string, type: string, request: string, filetype: string, asks: string[], config: table }[]
function M.configurations()
  local found = {}
  for filetype, config in each_configuration() do
    local copy, asks = described(config)
    found[#found + 1] = {
      name = tostring(config.name or ''),
      type = tostring(config.type or ''),
      request = tostring(config.request or ''),
      filetype = filetype,
      asks = asks,
      config = next(copy) == nil and vim.empty_dict() or copy,
    }
  end
  return found
end

-- Starting ----------------------------------------------------------------------------------------

---@class dapeer.LaunchOptions
---@field config? table what to start, or
---@field configuration? string the name of what to start, among `dap.configurations`
---@field filetype? string under which it stands there
---@field overrides? table keys that replace those of the configuration
---@field exception_filters? string[]
---@field latest? number Unix time after which it must not be sent

---@param opts dapeer.LaunchOptions
---@return table? config, string? why there is none
local function chosen(opts)
  local config, filetype = opts.config, opts.filetype
  if not config then
    for each_filetype, each in each_configuration() do
      local fits = each.name == opts.configuration and (not filetype or filetype == each_filetype)
      config = config or (fits and each or nil)
    end
  end
  if not config then
    return nil, ('nvim-dap has no configuration `%s`.'):format(opts.configuration)
  end
  if is_computed(config) then
    return nil, ('The configuration `%s` is computed by code that may ask the person.'):format(config.name)
  end
  config = vim.tbl_extend('force', config, opts.overrides or {})
  local _, asks = described(config)
  if #asks > 0 then
    return nil, ('The configuration asks the person: %s.'):format(table.concat(asks, '; '))
  end
  return config
end

---@param dap table
---@param config table
---@return string? why it cannot be started
local function hindrance(dap, config)
  local adapter = dap.adapters[config.type]
  if adapter == nil then
    local types = table.concat(M.types(), ', ')
    return ('nvim-dap has no adapter `%s`; it has: %s.'):format(tostring(config.type), types)
  elseif config.request ~= 'launch' and config.request ~= 'attach' then
    return 'The configuration needs a `request`: launch or attach.'
  end
  return require('dapeer.nvim_dap.adapters').missing(adapter)
end

---Say which launch a new session comes of; the same again when asked again. Legal in a luv callback.
---@param session dap.Session
---@return integer? id
---@return boolean? waited  for the person
---@return string[]? exception_filters
function M.claim(session)
  local starts = package.loaded['dapeer.nvim_dap.starts']
  if starts then
    return starts.claim(session)
  end
end

---Start something by `dap.run`. Opens no picker: what asks the person is refused.
---
---Returns at once; the session is announced with the id (`claim`), or the core gets `launch_failed`.
---@param opts dapeer.LaunchOptions
---@return integer|{ error: string } id
function M.run(opts)
  if opts.latest and require('dapeer.rpc').now() > opts.latest then
    return { error = 'Neovim was busy until the start had timed out.' }
  end
  local dap = nvim_dap()
  if not dap then
    return { error = 'nvim-dap is not installed in this Neovim.' }
  end
  local config, why = chosen(opts)
  why = why or hindrance(dap, config --[[@as table]])
  if why then
    return { error = why }
  end
  ---@cast config table
  local starts = require('dapeer.nvim_dap.starts')
  local launch = starts.watch(config, opts)
  local hold = require('dapeer.person.hold')
  local function run()
    -- `new`: a session of the same name continues; otherwise nvim-dap restarts it.
    local ok, err = pcall(dap.run, config, { new = true, filetype = opts.filetype })
    if not ok then
      starts.fail(launch, tostring(err))
    end
  end
  -- Later, so that the core knows the id before its outcome.
  vim.schedule(function()
    local at_once = false
    launch.wait = hold.when_possible(function()
      at_once = true
      starts.begin(launch)
      hold.during(run)
    end)
    launch.waited = not at_once
  end)
  return launch.id
end

---Give a start up that nobody waits for any more.
---@param id integer
function M.cancel(id)
  require('dapeer.nvim_dap.starts').cancel(id)
end

---@type table<string, true>
local mentioned = {}

---Tell the person, once, that programs of a language are debugged without nvim-dap.
---@param kind string  the adapter
function M.elsewhere(kind)
  if mentioned[kind] then
    return
  end
  mentioned[kind] = true
  local attention = require('dapeer.person.attention')
  attention.when_free(function()
    attention.say(('debugs outside of Neovim: nvim-dap has no adapter `%s`'):format(kind))
  end)
end

return M
