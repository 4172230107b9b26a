--- All that is a person's own, to compare before and after: `person.desk`, and what only few look at.
local M = {}

--- What a test hears of: modes, and our questions.
function M.tell()
  local function tell(...)
    pcall(vim.rpcnotify, vim.g.test_channel, ...)
  end
  vim.api.nvim_create_autocmd('ModeChanged', {
    callback = function()
      tell('mode', vim.v.event.new_mode)
    end,
  })
  local asked
  vim.api.nvim_create_autocmd('WinEnter', {
    -- Later, when the window is complete; several events may lead to one window then.
    callback = vim.schedule_wrap(function()
      local window = vim.api.nvim_get_current_win()
      if vim.bo.filetype == 'dapeer_ask' and window ~= asked then
        asked = window
        local title = vim.api.nvim_win_get_config(window).title
        tell('asked', title[1][1], vim.api.nvim_buf_get_lines(0, 0, -1, false))
      end
    end),
  })
  vim.notify = function(text)
    tell('said', text)
  end
end

local function messages()
  local told = vim.fn.execute('messages')
  -- Neovim 0.10 keeps an empty one each time that somebody leaves Insert mode.
  return vim.fn.has('nvim-0.11') == 1 and told or told:gsub('\n+', '\n'):gsub('\n$', '')
end

local function autocommands()
  -- One of Neovim's own is there for a moment after a file is shown: it marks a matching bracket.
  return #vim.tbl_filter(function(each)
    return not (each.once and each.event == 'SafeState')
  end, vim.api.nvim_get_autocmds({}))
end

function M.look()
  local desk = require('person').desk()
  local more = {}
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local buffer = vim.api.nvim_win_get_buf(window)
    table.insert(more, {
      jumps = vim.fn.getjumplist(window),
      changes = vim.fn.getchangelist(buffer),
      marks = vim.fn.getmarklist(buffer),
      undo = vim.fn.undotree(buffer).seq_cur,
      alternate = vim.api.nvim_win_call(window, function()
        return vim.fn.bufnr('#')
      end),
      locked = { vim.wo[window].winfixbuf, vim.wo[window].cursorline },
    })
  end
  return {
    desk = desk,
    windows = more,
    -- Itself, or none: `:wincmd p` does nothing in both cases.
    previous = vim.fn.winnr('#') ~= vim.fn.winnr() and vim.fn.winnr('#') or 0,
    options = { vim.o.shortmess, vim.o.eventignore, vim.o.hidden },
    autocommands = autocommands(),
    quickfix = vim.fn.getqflist({ nr = '$', id = 0 }),
    messages = messages(),
  }
end

return M
