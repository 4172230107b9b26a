-- What is known of OpenCode, and outlives a reload of the plugin.

---@class dapeer.OpenCodeEntry  One server, one directory: what the core has told of its registration there.
---@field url string
---@field directory string
---@field name? string      the MCP server's name there
---@field channel? integer  of the core that is registered; nil: none is
---@field own? boolean      it replaces what the person has configured under this name
---@field twice? string[]   other names under which their configuration has us
---@field problem? string   why it is not registered

---@class dapeer.OpenCodeState
---@field enabled? boolean
---@field url? string         where the server listens
---@field directories string[]  where the person has worked since it does, as the server calls them
---@field reported? dapeer.OpenCodeServer  what the cores know of it
---@field subscribed? table   the plugin's state that tells us of changes
---@field problem? string     what was told last
---@field entries table<string, dapeer.OpenCodeEntry>
local state = require('dapeer.kept').part('opencode', { directories = {}, entries = {} })

return state
