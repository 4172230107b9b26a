-- Which OpenCode server this Neovim uses, as the attached cores are told: their clients get its sessions as tools, and
-- the core of this Neovim registers itself there.
local M = {}

---@class dapeer.OpenCodeServer  Nothing in it: there is none.
---@field url? string
---@field authorization? string  the header that it wants to see
---@field directories? string[]  where the person works, as the server calls it
---@field core? string           the URL of the core that it is to have there; nil: none runs

---@type dapeer.OpenCodeState
local state = require('dapeer.integrations.opencode.state')

---@return dapeer.OpenCodeServer
local function current()
  local url = state.enabled and state.url
  if not url then
    return vim.empty_dict()
  end
  return {
    url = url,
    authorization = require('dapeer.integrations.opencode.plugin').headers().Authorization,
    directories = vim.list_slice(state.directories),
    core = require('dapeer.core.supervisor').url(),
  }
end

---Tell every core, if it is another than before; one that hears nothing knows that there is none.
---@param again? boolean  they are to look, though it is the same
function M.review(again)
  local now = current()
  local known = state.reported or {}
  if not vim.deep_equal(now, known) or (again and next(now)) then
    state.reported = next(now) and now or nil
    require('dapeer.rpc').publish('opencode', now)
  end
end

return M
