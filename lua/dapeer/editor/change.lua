-- Changing a buffer's text: as little of it as will do, so that marks, folds and cursors stay where they
-- are, and as one step of undo.
local M = {}

local editor = require('dapeer.editor')
local text = require('dapeer.editor.text')

---Why a buffer's text cannot be changed; nil when it can.
---@param bufnr integer
---@return string?
function M.obstacle(bufnr)
  local name, options = editor.name(bufnr), vim.bo[bufnr]
  if options.buftype ~= '' and options.buftype ~= 'acwrite' then
    return ('%s is not a file but a %s buffer. Name a file.'):format(name, options.buftype)
  elseif not options.modifiable then
    return ("%s cannot be changed: 'modifiable' is off in Neovim. Ask the person to switch it on."):format(name)
  elseif options.readonly then
    return ('%s is read-only in Neovim. Ask the person to allow changes: :set noreadonly.'):format(name)
  end
end

-- What a person types at this time, before and after, is a step of its own.
local function end_step(bufnr)
  vim.api.nvim_buf_call(bufnr, function()
    -- Setting the option ends a step, whatever its value.
    vim.cmd('noautocmd let &l:undolevels = &l:undolevels')
  end)
end

local function replace_line(bufnr, line, old, new)
  local head, tail = text.common(old, new)
  local piece = new:sub(head + 1, #new - tail)
  vim.api.nvim_buf_set_text(bufnr, line - 1, head, line - 1, #old - tail, { piece })
end

---@param bufnr integer
---@param part { from: integer, old: string[], new: string[] }
---@param hunk integer[]  first line and count of the old lines, and of the new
local function apply(bufnr, part, hunk)
  local from, count, to, number = unpack(hunk)
  if count == number then
    for index = 0, count - 1 do
      replace_line(bufnr, part.from + from + index, part.old[from + index], part.new[to + index])
    end
    return
  end
  -- A hunk without old lines names the line after which it inserts.
  local first = part.from + (count == 0 and from or from - 1)
  local lines = vim.list_slice(part.new, to, to + number - 1)
  vim.api.nvim_buf_set_lines(bufnr, first, first + count, true, lines)
end

-- In Select mode a letter would take the place of what is selected.
local function go_to_other_end()
  local selects = vim.api.nvim_get_mode().mode:match('^[sS\19]')
  vim.cmd.normal({ selects and '\7o\7' or 'o', bang = true })
end

-- Neovim moves the cursor with the text that it stands in; until 0.12 not the other end of a selection.
---@param bufnr integer
---@return fun() restore
function M.hold_selection(bufnr)
  local mode = vim.api.nvim_get_mode().mode
  if not mode:match('^[vVsS\19\22]') or vim.api.nvim_get_current_buf() ~= bufnr then
    return function() end
  end
  local space, from = vim.api.nvim_create_namespace('dapeer.selection'), vim.fn.getpos('v')
  local column = math.min(from[3] - 1, #editor.line(bufnr, from[2]))
  local mark = vim.api.nvim_buf_set_extmark(bufnr, space, from[2] - 1, column, {})
  return function()
    local at = vim.api.nvim_buf_get_extmark_by_id(bufnr, space, mark, {})
    vim.api.nvim_buf_del_extmark(bufnr, space, mark)
    local now = vim.fn.getpos('v')
    if at[1] and (at[1] + 1 ~= now[2] or (at[2] + 1 ~= now[3] and now[3] == from[3])) then
      go_to_other_end()
      vim.api.nvim_win_set_cursor(0, { at[1] + 1, at[2] })
      go_to_other_end()
      -- The one command of Visual mode within Select mode is still to come.
      if mode:sub(2) == 's' then
        vim.cmd.normal({ '\15', bang = true })
      end
    end
  end
end

---Give a buffer other lines.
---@param bufnr integer
---@param part { from: integer, old: string[], new: string[] }  lines behind the first `from` ones
function M.replace(bufnr, part)
  local hunks = text.hunks(part.old, part.new)
  local restore = M.hold_selection(bufnr)
  end_step(bufnr)
  -- From the end: the numbers of the lines before stay right.
  for index = #hunks, 1, -1 do
    apply(bufnr, part, hunks[index])
  end
  restore()
  end_step(bufnr)
end

return M
