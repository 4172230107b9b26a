-- Sends attached cores the OpenCode server that this Neovim uses: their clients get its sessions as tools.
local M = {}

---@class dapeer.OpenCodeServer  Empty: there is none.
---@field url? string
---@field authorization? string  the header that it wants to see

---@type dapeer.OpenCodeState
local state = require('dapeer.integrations.opencode.state')

---@return dapeer.OpenCodeServer
local function current()
  local url = state.enabled and state.url
  -- A password stays on this machine.
  if not url or not require('dapeer.integrations.http').place(url) then
    return vim.empty_dict()
  end
  return { url = url, authorization = require('dapeer.integrations.opencode.plugin').headers().Authorization }
end

---Notify every core if the server has changed; without a notification there is none.
function M.review()
  local now = current()
  if not vim.deep_equal(now, state.told or {}) then
    state.told = next(now) and now or nil
    require('dapeer.rpc').publish('opencode', now)
  end
end

return M
