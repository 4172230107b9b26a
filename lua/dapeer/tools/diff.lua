-- Reviewing what the assistant would write.
return {
  {
    name = 'open_diff',
    title = 'Review a change',
    description = 'Show the person a proposed text of a file beside the current one, and wait for their decision. '
      .. 'Accepted: FILE_SAVED and the final text, which may hold their edits; write exactly that to the file yourself. '
      .. 'Rejected: DIFF_REJECTED, the tab name, and their reason if they gave one.',
    args = {
      old_file_path = { type = 'string', description = 'default: new_file_path' },
      new_file_path = { type = 'string', required = true, description = 'need not exist' },
      new_file_contents = { type = 'string', required = true, description = 'the whole text' },
      tab_name = { type = 'string', description = 'for nvim_close_tab; default: the path' },
    },
    timeout = 0,
    read_only = true,
    execute = function(cb, args, ctx)
      require('dapeer.diff').open(cb, args, ctx)
    end,
  },
  {
    name = 'close_tab',
    title = 'Close a diff',
    description = 'Close the diff of this name that nvim_open_diff has opened; pending, it counts as rejected.',
    args = { tab_name = { type = 'string', required = true } },
    read_only = true,
    idempotent = true,
    execute = function(cb, args, ctx)
      require('dapeer.diff').close_tab(ctx.caller, args.tab_name)
      cb(require('dapeer.results').text('TAB_CLOSED'))
    end,
  },
  {
    name = 'close_all_diff_tabs',
    title = 'Close all diffs',
    description = 'Close all diffs that you have opened with nvim_open_diff; pending ones count as rejected.',
    read_only = true,
    idempotent = true,
    execute = function(cb, _, ctx)
      local count = require('dapeer.diff').close_all(ctx.caller)
      cb(require('dapeer.results').text(('CLOSED_%d_DIFF_TABS'):format(count)))
    end,
  },
}
