--- What is said on the connection of a session to a core: one line of JSON that says which session this is, then frames
--- `KIND NUMBER LENGTH\n` and so many bytes of DAP as they are:
---   i  from the adapter;  o  to the adapter, NUMBER is the core's own if the core asked for it, else 0;
---   x  the core's request NUMBER could not be sent, the bytes say why;
---   e  nvim-dap has closed the session. A connection that ends without it was cut.
--- In the other direction come the core's requests: `NUMBER LENGTH\n{"command":…,"arguments":…}`.
local M = {}

---@param kind string
---@param number integer
---@param body string
---@return string
function M.write(kind, number, body)
  return ('%s %d %d\n%s'):format(kind, number, #body, body)
end

---Take the bytes of a core's requests as they come.
---@param take fun(number: integer, text: string)  called for each request that is complete
---@return fun(chunk: string)
function M.reader(take)
  local buffer = ''
  return function(chunk)
    buffer = buffer .. chunk
    while true do
      local number, length, start = buffer:match('^(%d+) (%d+)\n()')
      if not number or #buffer < start - 1 + tonumber(length) then
        return
      end
      local text = buffer:sub(start, start - 1 + tonumber(length))
      buffer = buffer:sub(start + tonumber(length))
      take(tonumber(number), text)
    end
  end
end

return M
