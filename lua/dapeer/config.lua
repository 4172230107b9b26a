-- The options: what is known, what is in force, what was wrong with what `setup` was given.
local M = {}

local LEVELS = { 'debug', 'info', 'warn', 'warning', 'error' }

---@alias dapeer.Check fun(value: any): boolean

---@param ... string  names of Lua types
---@return { [1]: dapeer.Check, [2]: string }
local function of(...)
  local types = { ... }
  return {
    function(value)
      return vim.tbl_contains(types, type(value))
    end,
    table.concat(types, ' or '),
  }
end

local function whole(least, most)
  return function(value)
    return type(value) == 'number' and value % 1 == 0 and value >= least and value <= most
  end
end

local function strings(value)
  return type(value) == 'table'
    and vim.islist(value)
    and vim.iter(value):all(function(word)
      return type(word) == 'string'
    end)
end

local function command(value)
  if type(value) == 'string' then
    return value ~= ''
  end
  return strings(value) and #value > 0
end

local function one_of(words)
  return {
    function(value)
      return vim.tbl_contains(words, value)
    end,
    'one of ' .. table.concat(words, ', '),
  }
end

local flag = of('boolean')
local callback = of('function')
local rule = {
  function(value)
    return value == 'ask' or type(value) == 'boolean' or type(value) == 'function'
  end,
  "boolean, 'ask' or function",
}

---@type table<string, { [1]: dapeer.Check, [2]: string, default?: any }>
local SCHEMA = {
  ['tools.dap'] = flag,
  ['tools.diagnostics'] = flag,
  ['tools.lsp'] = flag,
  ['tools.undo'] = flag,
  ['tools.editor'] = flag,
  ['tools.documents'] = flag,
  ['tools.diff'] = flag,
  ['tools.interview'] = flag,
  ['tools.exec'] = flag,
  ['tools.test'] = flag,
  ['custom_tools'] = of('table'),
  ['secrets'] = { strings, 'a list of patterns: strings' },
  ['redact'] = flag,
  ['integrations.opencode'] = flag,
  ['integrations.claude'] = flag,
  ['bridge.command'] = { command, 'a command: a string or a list of strings' },
  ['bridge.port'] = { whole(0, 65535), 'an integer from 0 to 65535' },
  ['bridge.token_file'] = of('string'),
  ['bridge.log_level'] = one_of(LEVELS),
  ['bridge.log_file'] = of('string'),
  ['bridge.tool_timeout'] = { whole(0, math.huge), 'milliseconds, an integer' },
  ['debug'] = flag,
  ['on_ready'] = callback,
  ['on_stop'] = callback,
  ['tap'] = flag,
  ['follow'] = one_of({ 'always', 'idle', 'sign' }),
  ['approve.run'] = rule,
  ['approve.evaluate'] = rule,
  ['approve.write'] = rule,
  ['approve.read'] = rule,
  ['notify'] = flag,
  ['auto_start'] = flag,
}

---@type dapeer.Options
local options = {
  tools = {
    dap = true,
    diagnostics = true,
    lsp = true,
    undo = true,
    editor = true,
    documents = true,
    diff = true,
    interview = true,
    -- Whoever may run any code needs no other tool; and these try out the road, nothing else.
    exec = false,
    test = false,
  },
  secrets = {
    '.env',
    '.env.*',
    '*.env',
    '.envrc',
    '*.pem',
    '*.key',
    '*.p12',
    '*.pfx',
    '*.kdbx',
    '*.jks',
    '*.keystore',
    'id_rsa*',
    'id_dsa*',
    'id_ecdsa*',
    'id_ed25519*',
    '.netrc',
    '.npmrc',
    '.pypirc',
    '.pgpass',
    '.htpasswd',
    '.git-credentials',
    'credentials',
    'credentials.*',
    'secrets.*',
    '.ssh/*',
    '.gnupg/**',
    '.aws/*',
    '.kube/config',
    '.docker/config.json',
    '/etc/shadow',
    '/etc/gshadow',
    '/proc/**/environ',
  },
  redact = true,
  integrations = { opencode = false, claude = false },
  bridge = { port = 0, log_level = 'warning', tool_timeout = 300000 },
  debug = false,
  tap = true,
  follow = 'idle',
  approve = { run = false, evaluate = false, write = false, read = true },
  notify = false,
  auto_start = false,
}

---@type table<string, true>  the options that a person has given a value
local named = {}

---@type string[]  What was wrong, a sentence each, and has been reported.
M.problems = {}

-- The names under a prefix: of `bridge.` its options, of '' the top level.
local function known(prefix)
  local names = {}
  for name in pairs(SCHEMA) do
    if vim.startswith(name, prefix) then
      names[name:sub(#prefix + 1):match('^[^.]+')] = true
    end
  end
  names = vim.tbl_keys(names)
  table.sort(names)
  return names
end

local function unknown(name, prefix)
  local names = vim.tbl_map(function(one)
    return prefix .. one
  end, known(prefix))
  return ('unknown option `%s` (known: %s)'):format(name, table.concat(names, ', '))
end

local function take(given, prefix, into, problems)
  for key, value in pairs(given) do
    local name = prefix .. tostring(key)
    local entry = SCHEMA[name]
    if entry and entry[1](value) then
      into[key], named[name] = value, true
    elseif entry then
      problems[#problems + 1] = ('`%s` must be %s'):format(name, entry[2])
    elseif #known(name .. '.') == 0 then
      problems[#problems + 1] = unknown(name, prefix)
    elseif type(value) == 'table' then
      take(value, name .. '.', into[key], problems)
    else
      problems[#problems + 1] = ('`%s` must be a table'):format(name)
    end
  end
end

---The options in force: complete, except for what has no default.
---@return dapeer.Options
function M.get()
  return options
end

---Switch the groups of tools off that a person has named nowhere yet.
function M.switch_unnamed_groups_off()
  for group in pairs(options.tools) do
    options.tools[group] = named['tools.' .. group] and options.tools[group] or false
  end
end

---Merge what a person gave into the options in force. What is wrong is left out.
---@param given? dapeer.Options
---@return string[] problems  that were not known before, a few words each
function M.merge(given)
  if given ~= nil and type(given) ~= 'table' then
    given = { [tostring(given)] = true }
  end
  local problems = {}
  take(given or {}, '', options, problems)
  local fresh = vim.tbl_filter(function(problem)
    return not vim.tbl_contains(M.problems, problem)
  end, problems)
  table.sort(fresh)
  vim.list_extend(M.problems, fresh)
  return fresh
end

return M
