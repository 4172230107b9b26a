-- Which files may hold secrets: those that the person's patterns name, and copies of them.
local M = {}

---@param path string
---@return string
local function real_path(path)
  return vim.uv.fs_realpath(path) or path
end

---@type table<string, any>  compiled globs
local compiled = {}

---@param glob string
local function pattern(glob)
  if compiled[glob] == nil then
    local ok, made = pcall(vim.glob.to_lpeg, glob:lower())
    compiled[glob] = ok and made or vim.lpeg.P(glob:lower()) * -1
  end
  return compiled[glob]
end

-- What editors and people call the copy of a file.
local COPIES = { '~', '%.bak', '%.orig', '%.old', '%.save', '%.swp' }

local function original(path)
  for _, ending in ipairs(COPIES) do
    local short, count = path:gsub(ending .. '$', '')
    if count > 0 then
      return original(short)
    end
  end
  return path
end

local function matches(path, globs)
  path = path:lower()
  local name = vim.fs.basename(path)
  return vim.iter(globs):any(function(glob)
    if glob:find('/', 1, true) then
      return pattern(glob):match(path) or pattern('**/' .. glob):match(path)
    end
    -- The `*` of vim.glob is never empty: `id_rsa*` would not be `id_rsa`.
    return pattern(glob):match(name) or pattern((glob:gsub('%*', ''))):match(name)
  end)
end

---Whether no tool may look into a file: `setup{ secrets = … }`.
---@param path string
---@return boolean
function M.covers(path)
  local globs = require('dapeer.config').get().secrets
  local names = { path, original(path), real_path(path), original(real_path(path)) }
  return path ~= '' and vim.iter(names):any(function(name)
    return matches(name, globs)
  end)
end

return M
