-- Limits how often a running tool reports progress, to spare core and client.
local M = {}

local fitting = require('dapeer.results.fitting')

local PERIOD = 50 -- ms between two reports
local LONGEST = 1000 -- bytes of a message

---@param value any
---@return number?
local function finite(value)
  return type(value) == 'number' and math.abs(value) < math.huge and value or nil
end

---@param value any
---@return string?
local function text(value)
  return type(value) == 'string' and fitting.head(value, LONGEST) or nil
end

---Send reports on: the first at once, then the newest one each period. Legal in luv callbacks.
---@param send fun(done?: number, total?: number, message?: string)
---@return fun(first: any, total: any, message: any) report  what is neither a number nor a text is left out
---@return fun(last: boolean) stop                           `last`: what has not been sent is sent before
function M.throttled(send)
  local newest, timer, stopped = nil, nil, false
  local function send_newest()
    local report = newest
    newest = nil
    if report then
      send(report.done, report.total, report.message)
    end
    return report ~= nil
  end
  local function rest()
    if timer then
      timer:stop()
      timer:close()
      timer = nil
    end
  end
  local function report(first, total, message)
    local done = finite(first)
    message = text(type(first) == 'number' and message or first)
    if stopped or (done == nil and message == nil) then
      return
    end
    newest = { done = done, total = done and finite(total), message = message }
    if not timer then
      send_newest()
      timer = assert(vim.uv.new_timer())
      timer:start(PERIOD, PERIOD, function()
        if not send_newest() then
          rest()
        end
      end)
    end
  end
  local function stop(last)
    stopped = true
    rest()
    if last then
      send_newest()
    end
  end
  return report, stop
end

return M
