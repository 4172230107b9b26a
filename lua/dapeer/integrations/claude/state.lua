-- Whether Claude Code is offered this Neovim, and who has come.

---@class dapeer.ClaudeState
---@field enabled boolean
---@field port? integer     where the core serves; nil: it does not (yet)
---@field connected integer  how many CLIs are
---@field problem? string
return require('dapeer.kept').part('claude', { enabled = false, connected = 0 })
