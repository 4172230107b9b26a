"""A person who answers the questions for consent, by `:Dapeer`."""

ANSWERS = """
vim.api.nvim_create_autocmd('FileType', {
  pattern = 'dapeer_consent',
  callback = function(event)
    vim.rpcnotify(vim.g.test_channel, 'asked', vim.api.nvim_buf_get_lines(event.buf, 0, -1, false))
    if vim.g.answer then
      vim.schedule(function() vim.cmd('Dapeer ' .. vim.g.answer) end)
    end
  end,
})
"""
"""Tells the test of each question, and gives `vim.g.answer`, if there is one."""
ALLOW, DENY = "allow", "deny"
