-- The person's attention: taken only when they are not typing, and told of in one line.
local M = {}

-- Keys meant for a text, a command line or a terminal must not hit anything else.
---@return boolean
function M.typing()
  return vim.api.nvim_get_mode().mode:match('^[iRcvVsSt\22\19]') ~= nil
    or vim.fn.getcmdwintype() ~= ''
end

---Call back when the person does not type: at once, or later.
---@param group integer     autocommand group; deleting it cancels
---@param callback fun()
function M.when_free(group, callback)
  if not M.typing() then
    return callback()
  end
  vim.api.nvim_create_autocmd({ 'ModeChanged', 'CmdwinLeave' }, {
    group = group,
    once = true,
    callback = vim.schedule_wrap(function()
      -- The group is gone when it was cancelled meanwhile.
      if pcall(vim.api.nvim_get_autocmds, { group = group }) then
        M.when_free(group, callback)
      end
    end),
  })
end

---Tell one line, never longer than what fits: a longer one makes Neovim wait for a key.
---@param sentence string
---@param level? integer
function M.say(sentence, level)
  local text = ('dapeer: ' .. sentence):gsub('%s+', ' ')
  local room = math.max(vim.v.echospace, 20)
  if vim.fn.strdisplaywidth(text) > room then
    text = vim.fn.strcharpart(text, 0, room - 1) .. '…'
  end
  vim.notify(text, level or vim.log.levels.INFO)
end

return M
