-- Whose a port of this machine is: any user can listen there, and be there before the one that is expected. Linux
-- tells it in /proc/net/tcp (Documentation/networking/proc_net_tcp.rst of the kernel); elsewhere all owners pass.
local M = {}

local TABLES = { '/proc/net/tcp', '/proc/net/tcp6' }
local ADMINISTRATOR = 0 -- who can do all that we can anyway, and whose proxy it is that listens for a container
local EVERY = { string.rep('0', 8), string.rep('0', 32) }
local LOOPBACK6 = string.rep('0', 24) .. '01000000'
local MAPPED = string.rep('0', 16) .. 'FFFF0000' -- before an address of version 4 in the table of version 6

-- How the tables write the places at which a connection to an address can arrive. Words are written as numbers of
-- this machine, which has the lowest byte first wherever Neovim's LuaJIT is usual.
---@param address string  of the loopback interface
---@param port integer
local function places(address, port)
  local a, b, c, d = address:match('^(%d+)%.(%d+)%.(%d+)%.(%d+)$')
  local found = vim.list_slice(EVERY)
  if a then
    local plain = ('%02X%02X%02X%02X'):format(d, c, b, a)
    vim.list_extend(found, { plain, MAPPED .. plain })
  else
    found[#found + 1] = LOOPBACK6
  end
  local set = {}
  for _, one in ipairs(found) do
    set[('%s:%04X'):format(one, port)] = true
  end
  return set
end

---What is wrong with a port that we are connected to; nil when all sockets there are ours, or the administrator's.
---The one that has accepted counts, too, though it may have ceased to listen. It may be called in callbacks of luv.
---@param address string  of the loopback interface
---@param port integer
---@return string?
function M.problem(address, port)
  local wanted, own = places(address, port), vim.uv.getuid()
  for _, path in ipairs(TABLES) do
    local file = io.open(path)
    for line in file and file:lines() or function() end do
      local words = {}
      for word in line:gmatch('%S+') do
        words[#words + 1] = word
      end
      local uid = tonumber(words[8])
      if wanted[words[2]] and uid and uid ~= own and uid ~= ADMINISTRATOR then
        file:close()
        return 'another user of this machine listens there; nothing was sent'
      end
    end
    if file then
      file:close()
    end
  end
end

return M
