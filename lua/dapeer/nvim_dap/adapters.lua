--- The adapters of nvim-dap, as the assistant starts them.
local M = {}

-- After its own time nvim-dap tells in two lines, for which Neovim waits for a key, that an adapter has not answered.
local PATIENCE = 120 -- s

---Why an adapter's program cannot be started, if so.
---@param adapter any
---@return string?
function M.missing(adapter)
  local program = type(adapter) == 'table' and (adapter.type == 'executable' and adapter or adapter.executable)
  local command = type(program) == 'table' and program.command
  if type(command) ~= 'string' or vim.in_fast_event() then
    return nil
  end
  local options = program.options or program
  local elsewhere = options.env or (options.cwd and command:find('/', 1, true) and command:sub(1, 1) ~= '/')
  if not elsewhere and vim.fn.executable(command) == 0 then
    return ("The program `%s` of nvim-dap's adapter does not exist."):format(command)
  end
end

---An adapter that nvim-dap waits for without a word.
---@param adapter table
---@return table
function M.patient(adapter)
  local options = adapter.options or {}
  local seconds = math.max(options.initialize_timeout_sec or 0, PATIENCE)
  options = vim.tbl_extend('force', options, { initialize_timeout_sec = seconds })
  return setmetatable(vim.tbl_extend('force', adapter, { options = options }), getmetatable(adapter))
end

return M
