--- Opens the page that shows, in a browser, what programs collect.
local M = {}

---Readable by the person only.
local PRIVATE = tonumber('600', 8)

---@param url string  of the page
---@param token? string
---@return string told
local function show(url, token)
  -- Everybody on the machine can read a command line. So the browser gets the token by a file, which goes with Neovim.
  local path = vim.fn.tempname() .. '.html'
  local file, problem = vim.uv.fs_open(path, 'wx', PRIVATE)
  if not file then
    return 'cannot write ' .. problem
  end
  local page = url .. (token and '#' .. token or '')
  vim.uv.fs_write(file, ('<meta http-equiv="refresh" content="0;url=%s">\n'):format(page))
  vim.uv.fs_close(file)
  local _, failed = vim.ui.open(path)
  -- Whether a browser opens is known later, if at all. A narrow screen cuts the end of a line: the file leads to the page.
  return failed or ('open %s if no browser shows %s'):format(path, url)
end

---Open the page of this Neovim's core, or of those that assistants have brought along.
---@return string told  where it is, or why there is none
function M.open()
  local core = require('dapeer.core.supervisor')
  local url, rpc = core.url(), require('dapeer.rpc')
  if url then
    return show((url:gsub('/mcp$', '/live')), core.token())
  elseif #rpc.attached() == 0 then
    return 'no assistant is here: connect one, or :Dapeer start'
  end
  rpc.notify('page')
  return "the assistant's server opens the page"
end

---A core tells where its page is.
---@param url string
---@param token string
function M.served(url, token)
  require('dapeer.person.waiting').mention(show(url, token))
end

return M
