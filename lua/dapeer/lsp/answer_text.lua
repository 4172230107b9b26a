-- How results are written: short lines, grouped by file, and what was left out.
local M = {}

local WIDEST = 160 -- characters of a source line

---How a text names a file.
---@param path string
---@return string
function M.path(path)
  return vim.fn.fnamemodify(path, ':.')
end

---A source line as it is shown beside its position.
---@param text string
---@return string
function M.source(text)
  return require('dapeer.results.fitting').shortened(vim.trim(text), WIDEST)
end

---@param count integer
---@param noun string
---@return string  such as `1 file`, `2 files`
function M.count(count, noun)
  if count == 1 then
    return '1 ' .. noun
  end
  return ('%d %s'):format(count, (noun:gsub('y$', 'ie')) .. 's')
end

---The part of a list that was asked for.
---@generic T
---@param items T[]
---@param args { start?: integer, count?: integer }
---@return T[] page
---@return string? note  what was left out, and how to get it
function M.page(items, args)
  local page, clause = require('dapeer.editor.text').part(items, args)
  return page, clause and clause .. '.'
end

---Lines under the name of their file, which is given once.
---@generic T
---@param items T[]  each with `path`
---@param line fun(item: T): string
---@return string[]
function M.by_file(items, line)
  local lines, path = {}, nil
  for _, item in ipairs(items) do
    if item.path ~= path then
      path = item.path
      table.insert(lines, M.path(path))
    end
    table.insert(lines, '  ' .. line(item))
  end
  return lines
end

---A result: the lines that there are, and the facts.
---@param lines (string|string[])[]
---@param data table
---@return dapeer.Result
function M.result(lines, data)
  local flat = {}
  for _, line in ipairs(lines) do
    vim.list_extend(flat, type(line) == 'table' and line or { line })
  end
  return require('dapeer.results').result(table.concat(flat, '\n'), data)
end

return M
