---@meta _
-- libuv's Lua names and fields of events, of which Neovim's runtime has no annotations.

---@class uv
---@field [string] fun(...: any): any

---@class uv.uv_handle_t
---@field is_active fun(self): boolean
---@field is_closing fun(self): boolean
---@field close fun(self, done?: fun())

---@class uv.uv_timer_t: uv.uv_handle_t
---@field start fun(self, milliseconds: integer, again: integer, callback: fun())
---@field stop fun(self)

---@class uv.uv_pipe_t: uv.uv_handle_t
---@field [string] fun(self: uv.uv_pipe_t, ...: any): any

---@type uv
vim.uv = {}

---@class vim.v.event
---@field old_mode string
