---@meta _
-- What the parts of the plugin hand to each other. Nothing loads this file; editors read it.

---@alias dapeer.Kind 'run'|'evaluate'|'write'|'read'
---@alias dapeer.Rule boolean|'ask'|fun(action: dapeer.Action): boolean?  true and 'ask': ask; a function's nil: ask

---@class dapeer.Options  What `setup` takes; every field may be left out.
---@field tools? table<'dap'|'diagnostics'|'lsp'|'undo'|'editor'|'documents'|'diff'|'interview'|'exec'|'test', boolean>
---@field custom_tools? table<string, { description: string, parameters?: table, handler: fun(params: table, ctx: dapeer.Context): any }>
---@field secrets? string[]              patterns of files that no tool shows
---@field redact? boolean                 mask passwords, tokens and keys of debugged programs
---@field integrations? { opencode?: boolean, ampcode?: boolean }  `opencode`: opencode.nvim's sessions get the tools
---@field bridge? { command?: string|string[], port?: integer, token_file?: string, log_level?: string, log_file?: string, tool_timeout?: integer }
---@field debug? boolean                  the core logs everything
---@field on_ready? fun(port: integer)    the core listens
---@field on_stop? fun()                  a core that had been ready is gone
---@field tap? boolean                    use internals of nvim-dap; false: only its documented listeners
---@field follow? 'always'|'idle'|'sign'  whether your cursor goes to a stop that the assistant has caused
---@field approve? table<dapeer.Kind, dapeer.Rule>
---@field notify? boolean                 one line for every action of the assistant
---@field auto_start? boolean             start the core with Neovim

---@class dapeer.Action  Something that the assistant does, or wants to do.
---@field tool string          such as `dap_evaluate`
---@field kind dapeer.Kind     the one that a rule is asked about; else the tool's own
---@field kinds dapeer.Kind[]  all of them
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

---@class dapeer.Arg  An argument of a tool: a JSON Schema, and whether it is needed.
---@field type 'string'|'number'|'integer'|'boolean'|'object'|'array'
---@field description? string
---@field required? boolean
---@field default? any
---@field enum? any[]
---@field items? table
---@field properties? table<string, table>

---@class dapeer.Context  What a handler gets besides its arguments.
---@field progress fun(done: number|string, total?: number, message?: string)  a message alone, or how far it is
---@field cancelled fun(): boolean          nobody waits for the answer: cancelled, timed out, or the core is gone
---@field on_cancel fun(callback: fun())    called once then; at once when it has happened already
---@field caller { client?: string, channel?: integer }

---@class dapeer.Tool  A tool written in Lua; served as `nvim_` and its name.
---@field name string
---@field title? string
---@field description string
---@field execute fun(cb: fun(result: any, err?: string), args: table, ctx: dapeer.Context)
---@field args? table<string, dapeer.Arg>
---@field parameters? table    JSON Schema of the arguments, instead of args
---@field timeout? integer     milliseconds; 0: none; default `bridge.tool_timeout`
---@field read_only? boolean   it changes nothing
---@field destructive? boolean something may be lost
---@field idempotent? boolean  calling it again changes nothing more
---@field action? dapeer.Kind|dapeer.Kind[]|false  what it counts as for `approve` and the log; default: run, evaluate and
---write, unless it is read_only
---@field action_when? string  the argument that must be true for that; without it the tool only shows what it would do
---@field group? string        of a built-in one
