--- What the person could start in nvim-dap, and starting it in nvim-dap's own way.
---
--- A launch is watched until its adapter has answered `launch` or `attach`: what nvim-dap tells the person
--- about a failure meanwhile is told to the cores as well.
local M = {}

local TIMEOUT = 15000
local LAST_WORDS = 100 -- ms in which nvim-dap may still say why a session closed
local LONGEST = 800
local DEEPEST = 12

---@class dapeer.Launch
---@field id integer
---@field name string
---@field type string
---@field request string
---@field exception_filters? string[]
---@field timer uv.uv_timer_t
---@field said string[] what nvim-dap has told the person since
---@field session? dap.Session set when it is claimed
---@field initialized? boolean the adapter has answered once, so it lives

---@type dapeer.Launch[]
local watched = {}
---@type table<dap.Session, integer>
local claimed = setmetatable({}, { __mode = 'k' })
local last_id = 0

---@return table? dap nil when there is no nvim-dap
local function nvim_dap()
  local ok, dap = pcall(require, 'dap')
  return ok and type(dap) == 'table' and dap or nil
end

-- What there is -----------------------------------------------------------------------------------

---The adapter types that nvim-dap has; none without nvim-dap.
---@return string[]
function M.types()
  local dap = nvim_dap()
  local types = dap and vim.tbl_keys(dap.adapters) or {}
  table.sort(types)
  return types
end

---What a text asks the person, if it does: nvim-dap would open a picker, or send it as it is.
---@param text string
---@return string?
local function asked(text)
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

---Copy a value as far as it can be told in JSON; what asks the person is left out and named.
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
    or kind == 'string' and asked(value)
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

-- Watching a start --------------------------------------------------------------------------------

---What we stand in front of while something starts: module, name and the function that was there.
---@type { module: table, name: string, original: function, ours: function }[]
local fronts = {}

---@param launch dapeer.Launch
local function finish(launch)
  for index, each in ipairs(watched) do
    if each == launch then
      table.remove(watched, index)
    end
  end
  if not launch.timer:is_closing() then
    launch.timer:close()
  end
  if #watched > 0 then
    return
  end
  for _, front in ipairs(fronts) do
    -- Somebody who stands in front of us by now calls us still, and we pass everything on.
    if front.module[front.name] == front.ours then
      front.module[front.name] = front.original
    end
  end
  fronts = {}
end

---@param launch dapeer.Launch
---@param why string
local function fail(launch, why)
  if not vim.tbl_contains(watched, launch) then
    return
  end
  finish(launch)
  local words = why == '' and table.concat(launch.said, ' ') or why
  local text = words:gsub('%s+', ' '):sub(1, LONGEST)
  require('dapeer.rpc').notify('launch_failed', launch.id, text)
end

---@param launch dapeer.Launch
local function time_out(launch)
  if launch.initialized then
    return finish(launch)
  end
  local what = launch.session and "nvim-dap's adapter did not answer" or 'nvim-dap started no session'
  local said = #launch.said > 0 and ' It said: ' .. table.concat(launch.said, ' ') or ''
  fail(launch, ('%s within %d s.%s'):format(what, TIMEOUT / 1000, said))
end

---The launch that a notification is about: the oldest that waits, those without a session first.
---@return dapeer.Launch?
local function concerned()
  for _, launch in ipairs(watched) do
    if not launch.session then
      return launch
    end
  end
  return watched[1]
end

---@param message any
---@param level integer?
local function heard(message, level)
  local launch = concerned()
  if not launch then
    return
  end
  if message == 'Run aborted' then
    return fail(launch, 'nvim-dap says: Run aborted.')
  elseif (level or 0) < vim.log.levels.WARN then
    return
  end
  launch.said[#launch.said + 1] = tostring(message)
  if level >= vim.log.levels.ERROR and not launch.session then
    fail(launch, '')
  end
end

---@param config table
---@return dapeer.Launch?
local function waiting_for(config)
  for _, launch in ipairs(watched) do
    local same_name = launch.name == tostring(config.name or '') or launch.name:find('${', 1, true)
    local same = launch.type == config.type and launch.request == config.request
    if not launch.session and same_name and same then
      return launch
    end
  end
end

---Why an adapter's program cannot be started, if so.
---@param adapter any
---@return string?
local function missing(adapter)
  local program = type(adapter) == 'table' and (adapter.type == 'executable' and adapter or adapter.executable)
  local command = type(program) == 'table' and program.command
  if type(command) ~= 'string' or vim.in_fast_event() then
    return nil
  end
  local options = program.options or program
  local elsewhere = options.env or (options.cwd and command:find('/', 1, true) and command:sub(1, 1) ~= '/')
  if not elsewhere and vim.fn.executable(command) == 0 then
    return ("The program `%s` of nvim-dap's adapter is not there."):format(command)
  end
end

---Stand in front of a function until nothing starts any longer.
---@param module table
---@param name string
---@param wrap fun(original: function): function
local function stand_before(module, name, wrap)
  local original = module[name]
  if type(original) == 'function' then
    local ours = wrap(original)
    fronts[#fronts + 1] = { module = module, name = name, original = original, ours = ours }
    module[name] = ours
  end
end

---@param dap table
local function listen(dap)
  if #fronts > 0 then
    return
  end
  stand_before(require('dap.utils'), 'notify', function(original)
    return function(message, level, ...)
      pcall(heard, message, level)
      return original(message, level, ...)
    end
  end)
  -- Here the adapter is known even where a function of the person has made it.
  for _, name in ipairs({ 'launch', 'attach' }) do
    stand_before(dap, name, function(original)
      return function(adapter, config, ...)
        local launch = waiting_for(config)
        local why = launch and missing(adapter)
        if why then
          return fail(launch, why)
        end
        local session = original(adapter, config, ...)
        if session then
          pcall(M.claim, session)
        elseif launch then
          fail(launch, #launch.said > 0 and '' or "nvim-dap could not start the adapter's program.")
        end
        return session
      end
    end)
  end
end

---Fail a launch whose filters the adapter does not have; as it would fail without nvim-dap.
---@param launch dapeer.Launch
local function check_filters(launch)
  local offered = {}
  for _, each in ipairs(launch.session.capabilities.exceptionBreakpointFilters or {}) do
    offered[#offered + 1] = each.filter
  end
  for _, filter in ipairs(launch.exception_filters or {}) do
    if not vim.tbl_contains(offered, filter) then
      local known = #offered > 0 and table.concat(offered, ', ') or 'none'
      fail(launch, ('There is no exception filter `%s`; the adapter has: %s.'):format(filter, known))
      return launch.session:disconnect({ terminateDebuggee = launch.request == 'launch' })
    end
  end
end

---The adapter has answered, or refused, what makes a session run.
---@param session dap.Session
---@param err any
---@param last boolean nothing is left to wait for
local function answered(session, err, last)
  for _, launch in ipairs(watched) do
    if launch.session == session then
      launch.initialized = true
      if err then
        fail(launch, #launch.said > 0 and '' or tostring(err))
      elseif last then
        finish(launch)
      else
        check_filters(launch)
      end
      return
    end
  end
end

---@param dap table
local function follow_answers(dap)
  for _, command in ipairs({ 'initialize', 'launch', 'attach' }) do
    dap.listeners.after[command]['dapeer.launch'] = function(session, err)
      pcall(answered, session, err, command ~= 'initialize')
    end
  end
end

---Heed the filters of this launch instead of nvim-dap's defaults, once.
---@param session dap.Session
---@param filters string[]
local function heed_filters(session, filters)
  local mutable = session --[[@as table]]
  mutable.set_exception_breakpoints = function(self, _, _, on_done)
    mutable.set_exception_breakpoints = nil
    return self:set_exception_breakpoints(filters, nil, on_done)
  end
end

---Say which launch a new session comes of; the same again when asked again. Legal in a luv callback.
---@param session dap.Session
---@return integer? id
function M.claim(session)
  local launch = not claimed[session] and not session.parent and waiting_for(session.config or {})
  if launch then
    claimed[session] = launch.id
    launch.session = session
    if launch.exception_filters then
      heed_filters(session, launch.exception_filters)
    end
    session.on_close['dapeer.launch'] = function()
      if #launch.said > 0 then
        fail(launch, '')
      elseif not launch.timer:is_closing() then
        launch.said[1] = 'The debug adapter went away before it had started anything.'
        launch.timer:start(LAST_WORDS, 0, function()
          fail(launch, launch.said[2] and table.concat(launch.said, ' ', 2) or '')
        end)
      end
    end
  end
  return claimed[session]
end

-- Starting ----------------------------------------------------------------------------------------

---@class dapeer.LaunchOptions
---@field config? table what to start, or
---@field configuration? string the name of what to start, among `dap.configurations`
---@field filetype? string under which it stands there
---@field overrides? table keys that replace those of the configuration
---@field exception_filters? string[]

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
    return 'The configuration has no `request`, which is launch or attach.'
  end
  return missing(adapter)
end

---@param config table
---@param opts dapeer.LaunchOptions
---@return dapeer.Launch
local function watch(config, opts)
  last_id = last_id + 1
  local launch = {
    id = last_id,
    name = tostring(config.name or ''),
    type = config.type,
    request = config.request,
    exception_filters = opts.exception_filters,
    timer = assert(vim.uv.new_timer()),
    said = {},
  }
  watched[#watched + 1] = launch
  launch.timer:start(TIMEOUT, 0, function()
    time_out(launch)
  end)
  return launch
end

---Start something by `dap.run`. Opens no picker: what asks the person is refused.
---
---Returns at once; the session is announced with the id (`claim`), or the core is told `launch_failed`.
---@param opts dapeer.LaunchOptions
---@return integer|{ error: string } id
function M.run(opts)
  local dap = nvim_dap()
  if not dap then
    return { error = 'There is no nvim-dap in this Neovim.' }
  end
  local config, why = chosen(opts)
  why = why or hindrance(dap, config --[[@as table]])
  if why then
    return { error = why }
  end
  ---@cast config table
  local launch = watch(config, opts)
  follow_answers(dap)
  listen(dap)
  -- Later, so that whoever asked knows the id before anything comes of it.
  vim.schedule(function()
    -- `new`: a session of the same name goes on; nvim-dap would restart it.
    local ok, err = pcall(dap.run, config, { new = true, filetype = opts.filetype })
    if not ok then
      fail(launch, tostring(err))
    end
  end)
  return launch.id
end

return M
