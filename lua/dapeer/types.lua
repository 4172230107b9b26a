---@meta _
-- What the parts of the plugin hand to each other. Nothing loads this file; editors read it.

---@alias dapeer.Kind 'run'|'evaluate'|'write'
---@alias dapeer.Rule boolean|'ask'|fun(action: dapeer.Action): boolean?  true and 'ask': ask; a function's nil: ask

---@class dapeer.Options  What `setup` takes; every field may be left out.
---@field tools? { dap?: boolean, diagnostics?: boolean, lsp?: boolean, undo?: boolean, test?: boolean, interview?: boolean }
---@field integrations? { opencode?: boolean, ampcode?: boolean }
---@field bridge? { command?: string|string[], port?: integer, log_level?: string, log_file?: string, tool_timeout?: integer }
---@field debug? boolean                  the core logs everything
---@field on_ready? fun(port: integer)    the core listens
---@field on_stop? fun()                  a core that had been ready is gone
---@field tap? boolean                    use internals of nvim-dap; false: only its documented listeners
---@field approve? table<dapeer.Kind, dapeer.Rule>
---@field notify? boolean                 one line for every action of the assistant
---@field auto_start? boolean             start the core with Neovim

---@class dapeer.Action  Something that the assistant does, or wants to do.
---@field tool string          such as `dap_evaluate`
---@field kind dapeer.Kind
---@field arguments string     JSON, bounded
---@field outcome? string      one sentence; nil while it is only wanted
---@field ok? boolean
---@field at? number           seconds since 1970
---@field client? string       who called

---@class dapeer.Status  What `status` tells.
---@field state 'stopped'|'starting'|'running'|'stopping'|'restarting'
---@field port? integer        where it listens; nil until it does
---@field pid? integer
---@field command? string[]    what was started; no token in it
---@field failure? string      why the core could not be kept alive
---@field stderr string[]      the last lines that the newest core has written there

---@class dapeer.Tool  A tool written in Lua.
---@field name string
---@field description string
---@field execute fun(cb: fun(result: any, err?: string), args: table)
---@field args? table<string, { type: string, description?: string, required?: boolean, default?: any }>
---@field timeout? integer     milliseconds
