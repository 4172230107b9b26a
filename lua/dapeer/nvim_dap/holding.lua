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

---Whether a message may open or close windows of others at a program that runs for the assistant.
---@param session dap.Session
---@param body string
---@return boolean
local function disturbs(session, body)
  local name = name_of(body)
  return OPENS[name] == true and others_listen(name) and require('dapeer.nvim_dap.follow').drives(session)
end

---What nvim-dap has not been given yet, in its order: the person is within a completion, which a window would end.
---@type table<dap.Session, (fun())[]>
local waiting = setmetatable({}, { __mode = 'k' })

---@param session dap.Session
local function hand_on(session)
  require('dapeer.person.hold').when_possible(function()
    vim.schedule(function()
      local handle = table.remove(waiting[session], 1)
      if waiting[session][1] then
        hand_on(session)
      else
        waiting[session] = nil
      end
      -- As the last thing: nothing of ours stands in the traceback of what nvim-dap raises.
      return handle()
    end)
  end)
end

---@param session dap.Session
---@param body string
---@param handle fun()
---@return boolean later
local function put_off(session, body, handle)
  if waiting[session] then
    table.insert(waiting[session], handle)
    return true
  elseif disturbs(session, body) and not require('dapeer.person.hold').possible() then
    waiting[session] = { handle }
    hand_on(session)
    return true
  end
  return false
end

---Whether messages of a session wait for the person.
---@param session dap.Session
---@return boolean
function M.waits(session)
  return waiting[session] ~= nil
end

function M.install()
  require('dapeer.nvim_dap.internals').around_messages(function(session, body)
    return disturbs(session, body) and require('dapeer.person.hold').during or nil
  end, put_off)
end

return M
