-- Whether Claude Code is offered this Neovim, and who has come.

---@class dapeer.ClaudeState
---@field enabled boolean
---@field port? integer     where the core serves; nil: it does not (yet)
---@field connected integer  how many CLIs are
---@field arguments? string[]  the arguments of a CLI that is opened once the core serves
---@field problem? string
---@field terminal? { buffer: integer, snacks?: table }  of the Claude Code that was opened here
return require('dapeer.kept').part('claude', { enabled = false, connected = 0 })
