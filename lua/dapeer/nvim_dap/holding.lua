--- What other plugins do when the assistant's program starts, stops or ends leaves the person where they are.
local M = {}

-- At these messages a program starts, stops or ends, and others may open or close their windows.
local OPENS = {
  initialize = true,
  initialized = true,
  launch = true,
  attach = true,
  configurationDone = true,
  process = true,
  stopped = true,
  exited = true,
  terminated = true,
  terminate = true,
  disconnect = true,
}

---Whether others than nvim-dap and dapeer listen to a message.
---@param name string
---@return boolean
local function others_listen(name)
  local dap = package.loaded['dap']
  for _, side in ipairs({ 'before', 'after' }) do
    for _, kind in ipairs({ name, 'event_' .. name }) do
      for key in pairs(rawget(dap.listeners[side], kind) or {}) do
        if type(key) ~= 'string' or not (key:match('^dapeer%.') or key:match('^dap%.')) then
          return true
        end
      end
    end
  end
  return false
end

---Name the event or command of an adapter's message without decoding it.
---@param body string
---@return string?
local function name_of(body)
  local head = body:sub(1, 300)
  return head:match('"event"%s*:%s*"(%w+)"') or head:match('"command"%s*:%s*"(%w+)"')
end

function M.install()
  require('dapeer.nvim_dap.internals').around_messages(function(session, body)
    local name = name_of(body)
    if OPENS[name] and others_listen(name) and require('dapeer.nvim_dap.follow').drives(session) then
      return require('dapeer.person.hold').during
    end
  end)
end

return M
