-- A client for HTTP/1.1 on this machine: one request, one answer. A bearer token in an argument of curl could be
-- read by everybody, and curl may not be there.
local M = {}

local owner = require('dapeer.integrations.owner') -- here: what luv calls can load nothing

local PATIENCE = 60 * 1000 -- ms
local HERE = { ['0.0.0.0'] = { '127.0.0.1' }, ['[::1]'] = { '::1' }, localhost = { '127.0.0.1', '::1' } }

---@class dapeer.HttpRequest
---@field method string
---@field url string                       `http://HOST:PORT/PATH`
---@field headers? table<string, string>
---@field body? any                        is sent as JSON

---@class dapeer.HttpAnswer
---@field status integer
---@field body any                         what the JSON says; nil when it is none

---@class dapeer.HttpPlace
---@field addresses string[]  of the loopback interface
---@field port integer
---@field path string
---@field host string          as the URL has it

---Where a URL leads; nil when that is not on this machine.
---@param url string
---@return dapeer.HttpPlace?
function M.place(url)
  local host, port, path = url:match('^http://(%[[%x:]+%])(:?%d*)(.*)$')
  if not host then
    host, port, path = url:match('^http://([^/:%[]+)(:?%d*)(.*)$')
  end
  if not host or (path ~= '' and not vim.startswith(path, '/')) then
    return nil
  end
  local addresses = HERE[host:lower()] or (host:match('^127%.[%d.]+$') and { host })
  return addresses
    and {
      addresses = addresses,
      port = tonumber(port:sub(2)) or 80,
      path = path == '' and '/' or path,
      host = host .. port,
    }
end

---@param place dapeer.HttpPlace
---@param request dapeer.HttpRequest
local function written(place, request)
  local body = request.body ~= nil and vim.json.encode(request.body) or ''
  local lines = {
    ('%s %s HTTP/1.1'):format(request.method, place.path),
    'Host: ' .. place.host,
    'Accept: application/json',
    'Content-Type: application/json',
    'Content-Length: ' .. #body,
    'Connection: close',
  }
  for name, value in pairs(request.headers or {}) do
    lines[#lines + 1] = ('%s: %s'):format(name, (value:gsub('[\r\n]', '')))
  end
  return table.concat(lines, '\r\n') .. '\r\n\r\n' .. body
end

-- A body that came in pieces; nil when the last one is missing.
local function joined(text)
  local pieces, at = {}, 1
  while true do
    local size, after = text:match('^(%x+)[^\r\n]*\r\n()', at)
    size = size and tonumber(size, 16)
    if not size or after + size > #text then
      return nil
    elseif size == 0 then
      return table.concat(pieces)
    end
    pieces[#pieces + 1] = text:sub(after, after + size - 1)
    at = after + size + 2
  end
end

-- What was read so far, when it is a whole answer.
---@param over boolean  nothing follows
---@return dapeer.HttpAnswer?
local function parsed(text, over)
  local head, rest = text:match('^(.-\r\n)\r\n(.*)$')
  local status = head and tonumber(head:match('^HTTP/%S+ (%d+)'))
  if not status then
    return nil
  end
  local fields = head:lower()
  local length = tonumber(fields:match('\ncontent%-length:%s*(%d+)'))
  if fields:match('\ntransfer%-encoding:%s*chunked') then
    rest = joined(rest)
  elseif length then
    rest = #rest >= length and rest:sub(1, length) or nil
  elseif not over then
    rest = nil
  end
  if not rest then
    return nil
  end
  local ok, body = pcall(vim.json.decode, rest, { luanil = { object = true } })
  return { status = status, body = ok and body or nil }
end

-- In luv callbacks: connect to the first address that takes it, write, read.
local function converse(socket, text, finish)
  local seen = ''
  socket:write(text)
  socket:read_start(function(problem, data)
    seen = seen .. (data or '')
    local answer = parsed(seen, not data)
    if answer then
      finish(answer)
    elseif problem or not data then
      finish(nil, problem or 'it closed the connection')
    end
  end)
end

---Ask; nothing waits.
---@param request dapeer.HttpRequest
---@param callback fun(answer?: dapeer.HttpAnswer, problem?: string)  once, on the main thread
function M.request(request, callback)
  local place = M.place(request.url)
  if not place then
    return vim.schedule(function()
      callback(nil, 'it is not on this machine')
    end)
  end
  local timer, socket, over = assert(vim.uv.new_timer()), nil, false
  local function finish(answer, problem)
    if over then
      return
    end
    over = true
    timer:close()
    socket:close()
    vim.schedule(function()
      callback(answer, problem)
    end)
  end
  local text = written(place, request)
  local function try(number)
    socket = assert(vim.uv.new_tcp())
    local function tried(problem)
      if over then
        return
      elseif not problem then
        -- Before a token or a password goes there.
        local refused = owner.problem(place.addresses[number], place.port)
        if refused then
          return finish(nil, refused)
        end
        converse(socket, text, finish)
      elseif place.addresses[number + 1] then
        socket:close()
        try(number + 1)
      else
        finish(nil, problem)
      end
    end
    local begun, problem = socket:connect(place.addresses[number], place.port, tried)
    if not begun then
      tried(problem)
    end
  end
  timer:start(PATIENCE, 0, function()
    finish(nil, 'it did not answer in time')
  end)
  try(1)
end

---Say something for which no answer is waited, at Neovim's end: what is written now is sent, though Neovim's loop
---does not turn any more.
---@param request dapeer.HttpRequest
function M.send(request)
  local place = M.place(request.url)
  if not place then
    return
  end
  -- Takes no time on this machine, where a port is open or is not.
  local ok, channel = pcall(vim.fn.sockconnect, 'tcp', ('%s:%d'):format(place.addresses[1], place.port))
  if ok and channel > 0 and not owner.problem(place.addresses[1], place.port) then
    pcall(vim.fn.chansend, channel, written(place, request))
  end
end

return M
