-- What is known of OpenCode, and outlives a reload of the plugin.

---@class dapeer.OpenCodeEntry  One server, one directory.
---@field url string
---@field directory string
---@field name string      the MCP server's name there
---@field claim string     keeps the name from other Neovims
---@field core? integer    the process that is registered; nil: none
---@field own? table|false the person's own configuration of this name, which is replaced; nil: unknown
---@field twice? string[]  other names under which their configuration has us
---@field busy? boolean    a request is under way
---@field again? boolean   what is wanted may have changed since
---@field doubt? boolean   OpenCode may have forgotten it
---@field forgotten? boolean  it has
---@field leaving? boolean it is no longer wanted there
---@field problem? string  why it is not registered

---@class dapeer.OpenCodeState
---@field enabled? boolean
---@field url? string         where the server listens
---@field told? dapeer.OpenCodeServer  what the cores know of it
---@field subscribed? table   the plugin's state that tells us of changes
---@field problem? string     the last one shown
---@field entries table<string, dapeer.OpenCodeEntry>
local state = require('dapeer.kept').part('opencode', { entries = {} })

return state
