--- Loading a file into Neovim without a question and without a message, for which Neovim might wait for a key. What
--- the person would have been asked about, a swap file that holds changes, they are told of afterwards.
local M = {}

---@param action fun()
---@return boolean ok
---@return any problem
function M.quietly(action)
  local before = vim.o.shortmess
  -- A: no question about a swap file; F: no message.
  vim.cmd('noautocmd set shortmess+=AF')
  local ok, problem = pcall(action)
  vim.cmd('noautocmd let &shortmess = ' .. vim.fn.string(before))
  return ok, problem
end

-- Where Neovim looks for swap files of a file, by 'directory'; a pattern for each.
---@param path string
---@return fun(): string?
local function patterns(path)
  return coroutine.wrap(function()
    for _, folder in ipairs(vim.opt_global.directory:get()) do
      local name = vim.fs.basename(path)
      if folder == '.' then
        coroutine.yield(vim.fs.dirname(path) .. '/.' .. name)
      elseif vim.endswith(folder, '//') then
        coroutine.yield(folder:sub(1, -2) .. path:gsub('/', '%%'))
      else
        coroutine.yield(folder .. '/' .. name)
      end
    end
  end)
end

---A swap file that holds changes of a file which were never written.
---@param path string
---@return { pid: integer }?  of the Neovim that has them, if it lives; else 0
function M.unwritten(path)
  if not vim.go.swapfile or vim.go.updatecount == 0 then
    return nil -- Neovim would not look either
  end
  for pattern in patterns(path) do
    for _, ending in ipairs({ '.swp', '.swo', '.swn' }) do
      local swap = vim.fs.normalize(pattern, { expand_env = false }) .. ending
      local info = vim.uv.fs_stat(swap) and vim.fn.swapinfo(swap)
      if info and info.dirty == 1 then
        local lives = info.host == vim.uv.os_gethostname() and vim.uv.kill(info.pid, 0) == 0
        return { pid = lives and info.pid or 0 }
      end
    end
  end
end

---@param path string
---@param found { pid: integer }
local function report(path, found)
  local name = vim.fn.fnamemodify(path, ':~:.')
  local sentence = found.pid > 0 and ('loaded %s; Neovim %d has unsaved changes of it'):format(name, found.pid)
    or ('loaded %s; its swap file has unsaved changes (:recover)'):format(name)
  local attention = require('dapeer.person.attention')
  attention.when_free(function()
    attention.say(sentence, vim.log.levels.WARN)
  end)
end

---Load a buffer without showing it, for the assistant.
---@param bufnr integer
---@return any problem
function M.load(bufnr)
  if vim.api.nvim_buf_is_loaded(bufnr) then
    return nil
  end
  local path = vim.api.nvim_buf_get_name(bufnr)
  local _, found = pcall(M.unwritten, path)
  -- A person's autocommand may fail; what counts is whether the text is there.
  local _, problem = M.quietly(function()
    vim.cmd(('silent call bufload(%d)'):format(bufnr))
  end)
  if type(found) == 'table' then
    report(path, found)
  end
  return problem
end

return M
