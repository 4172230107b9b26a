-- One process of the core: starting it, its output, ending it.
-- What it means for the plugin is decided in supervisor.lua.
local M = {}

local head = require('dapeer.results.fitting').head -- here: what luv calls can load nothing

local PATIENCE = 5 * 1000 -- ms that a core has to end its debug sessions and itself
local LINES = 200 -- of its standard error that are kept …
local LONGEST_LINE = 500 -- … and their bytes

-- The options that the plugin passes on by flags.
local OPTIONS = {
  ['--port'] = 'bridge.port',
  ['--token-file'] = 'bridge.token_file',
  ['--log-file'] = 'bridge.log_file',
  ['--log-level'] = 'bridge.log_level',
}

---@class dapeer.Process
---@field command string[]
---@field token? string            of `bridge.token_file` only when the core listens: it may be the one who makes the file
---@field started integer          ms, of a clock that only runs forward
---@field process? vim.SystemObj
---@field port? integer            it listens
---@field announced? boolean       on_ready was called, on_stop not yet
---@field leaving? boolean         it was asked to end
---@field ended? boolean
---@field stdout string            a line that is not complete
---@field stderr string[]          the last lines
---@field rest string              one that is not complete

---@class dapeer.StartOptions
---@field port? integer            instead of the option `bridge.port`
---@field nvim_socket? string      instead of v:servername

---@return integer  ms
function M.now()
  return math.floor(vim.uv.hrtime() / 1e6)
end

---@param given dapeer.StartOptions
local function arguments(given)
  local options = require('dapeer.config').get()
  local address = given.nvim_socket or vim.v.servername
  -- `--listen ./here` leaves a name that means something else in every folder.
  if address:find('/', 1, true) then
    address = vim.fn.fnamemodify(address, ':p')
  end
  if address == '' then
    address = vim.fn.serverstart()
  end
  local level = options.debug and 'debug' or options.bridge.log_level
  local words = { 'serve', '--nvim', address, '--with-stdin' }
  vim.list_extend(words, { '--port', tostring(given.port or options.bridge.port) })
  vim.list_extend(words, { '--log-level', level == 'warn' and 'warning' or level })
  if not options.tools.dap then
    vim.list_extend(words, { '--tools', 'nvim' })
  end
  if not options.redact then
    words[#words + 1] = '--no-redact'
  end
  if options.bridge.log_file then
    vim.list_extend(words, { '--log-file', vim.fs.normalize(options.bridge.log_file) })
  end
  if options.bridge.token_file then
    vim.list_extend(words, { '--token-file', vim.fs.normalize(options.bridge.token_file) })
  end
  return words
end

local function token()
  return (vim.uv.random(32):gsub('.', function(byte)
    return ('%02x'):format(byte:byte())
  end))
end

-- What is in the file that clients read; the core has looked whether it is this user's alone.
---@return string?
local function written_token()
  local file = io.open(vim.fs.normalize(require('dapeer.config').get().bridge.token_file))
  local text = file and file:read('*a')
  if file then
    file:close()
  end
  return text and vim.trim(text)
end

-- In a luv callback. The line may come in pieces.
---@param core dapeer.Process
local function on_stdout(core, data, on_ready)
  if core.port or not data then
    return
  end
  core.stdout = core.stdout .. data
  core.port = tonumber(core.stdout:match('MCP server listening on port (%d+)\r?\n'))
  core.stdout = core.stdout:match('[^\n]*$'):sub(-LONGEST_LINE)
  if core.port then
    vim.schedule(function()
      core.token = core.token or written_token()
      on_ready(core)
    end)
  end
end

-- In a luv callback.
---@param core dapeer.Process
local function on_stderr(core, data)
  local text = core.rest .. (data or '\n')
  for line in text:gmatch('([^\n]*)\n') do
    if line:match('%S') then
      core.stderr[#core.stderr + 1] = head((line:gsub('\r$', '')), LONGEST_LINE)
    end
  end
  while #core.stderr > LINES do
    table.remove(core.stderr, 1)
  end
  core.rest = head(text:match('[^\n]*$'), LONGEST_LINE)
end

---@param core dapeer.Process
local function run(core, on_ready, on_exit)
  return vim.system(core.command, {
    -- Open, with nothing written to it: its end tells the core that Neovim has ended.
    stdin = true,
    stdout = function(_, data)
      on_stdout(core, data, on_ready)
    end,
    stderr = function(_, data)
      on_stderr(core, data)
    end,
    -- Not an argument: those can be read by every user of the machine.
    env = { DAPEER_TOKEN = core.token },
    -- In a group of its own: an interrupt at the terminal is meant for Neovim.
    detach = true,
  }, function(result)
    core.ended = true
    vim.schedule(function()
      on_exit(core, result)
    end)
  end)
end

---What `vim.system` says of a program that it cannot start, without the place in Neovim's own code.
---@param failure any
---@param program string
---@return string
function M.why(failure, program)
  -- Neovim 0.12 has compiled its code in, so that the place is no file; 0.10 does not name the program.
  local why = tostring(failure):gsub('^%[string ".-"%]:%d+: ', ''):gsub('^%S-:%d+: ', '')
  return why:find(program, 1, true) and why or ("%s (cmd): '%s'"):format(why, program)
end

---Start a core.
---@param command string[]                                            the words before the arguments
---@param options dapeer.StartOptions
---@param on_ready fun(core: dapeer.Process)                             it listens
---@param on_exit fun(core: dapeer.Process, result: vim.SystemCompleted) it has ended
---@return dapeer.Process core     ended already when it could not be started
---@return string? problem      why it could not
function M.start(command, options, on_ready, on_exit)
  ---@type dapeer.Process
  local core = {
    command = vim.list_extend(vim.list_slice(command), arguments(options)),
    token = not require('dapeer.config').get().bridge.token_file and token() or nil,
    started = M.now(),
    stdout = '',
    stderr = {},
    rest = '',
  }
  local ok, process = pcall(run, core, on_ready, on_exit)
  if ok then
    core.process = process
    return core
  end
  core.ended = true
  return core, M.why(process, core.command[1])
end

---Tell a core to end, politely, so that it ends its debug sessions; one that does not listen is killed.
---@param core dapeer.Process
function M.dismiss(core)
  core.leaving = true
  -- It may have ended this moment.
  pcall(core.process.kill, core.process, 'sigterm')
  pcall(core.process.write, core.process, nil)
  vim.defer_fn(function()
    if not core.ended then
      pcall(core.process.kill, core.process, 'sigkill')
    end
  end, PATIENCE)
end

---The last thing that a core has said on its standard error. Where that names a flag that stands for an option, it
---names the option, and that first.
---@param core dapeer.Process
---@return string
function M.last_words(core)
  local option
  local words = (core.stderr[#core.stderr] or 'it said nothing'):gsub('%-%-[%w-]+', function(flag)
    option = option or OPTIONS[flag]
    return OPTIONS[flag]
  end)
  words = words:gsub('^dapeer: ', ''):gsub('%.$', '')
  return option and ('%s: %s'):format(option, words) or words
end

return M
