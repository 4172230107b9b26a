-- Tools that try out the road from an assistant to Neovim: one answers at once, one when the person does.
-- Off unless `setup{ tools = { test = true } }`.

---@param bufnr integer
local function described(bufnr)
  local options = vim.bo[bufnr]
  return {
    bufnr = bufnr,
    name = vim.api.nvim_buf_get_name(bufnr),
    buftype = options.buftype,
    filetype = options.filetype,
    modified = options.modified,
    readonly = options.readonly,
    line_count = vim.api.nvim_buf_line_count(bufnr),
    listed = options.buflisted,
  }
end

---@param cb fun(result: any, err?: string)
---@param ctx dapeer.Context
local function prompt(cb, args, ctx)
  if #vim.api.nvim_list_uis() == 0 then
    return cb(nil, 'No person can answer in this Neovim: it has no user interface.')
  end
  local cancel = require('dapeer.person.attention').when_free(vim.schedule_wrap(function()
    if ctx.cancelled() then
      return
    end
    vim.ui.select(args.options, { prompt = args.prompt }, function(choice, index)
      if not ctx.cancelled() then
        cb(choice and { selected = choice, index = index } or { cancelled = true })
      end
    end)
  end))
  ctx.on_cancel(cancel)
end

return {
  {
    name = 'test_async_prompt',
    title = 'Try a prompt',
    description = 'Let the person choose one of some options, to try out tools that take long.',
    args = {
      prompt = { type = 'string', required = true },
      options = { type = 'array', items = { type = 'string' }, required = true },
    },
    timeout = 0,
    read_only = true,
    execute = prompt,
  },
  {
    name = 'test_sync_buffers',
    title = 'Try a list',
    description = 'List all buffers, to try out tools that answer at once.',
    read_only = true,
    execute = function(cb)
      local buffers = vim.tbl_map(described, vim.api.nvim_list_bufs())
      cb({ buffers = buffers, count = #buffers })
    end,
  },
}
