-- A question for consent, in a window that never takes the focus: the person answers by a command, or goes there.
local M = {}

local attention = require('dapeer.person.attention')

local WIDEST = 100

---@class dapeer.Consent
---@field window integer
---@field buffer integer
---@field group integer
---@field first integer   the line of the first choice
---@field came? dapeer.CameFrom
---@field wait? fun()     stops waiting for the person, who wants to go there
---@field over? boolean

---@class dapeer.CameFrom  where the person is back afterwards
---@field mode string
---@field focus dapeer.Focus
---@field view table

---@alias dapeer.Verdict 'allow'|'session'|'deny'|'none'  none: closed without a choice

---What no eye sees is shown by its code.
---@param text string
---@return string[]
local function lines_of(text)
  local shown = require('dapeer.results.fitting').escaped(text):gsub('\t', '    ')
  return vim.tbl_map(vim.fn.strtrans, vim.split(shown, '\n', { plain = true }))
end

-- Texts are shown as they are, with their lines, which are indented: none of them is a choice.
---@param arguments string  JSON, perhaps cut
---@return string[]
local function argument_lines(arguments)
  local ok, given = pcall(vim.json.decode, arguments)
  if not ok or type(given) ~= 'table' or vim.islist(given) then
    return arguments == '{}' and {} or lines_of(arguments)
  end
  local all = {}
  for name, value in vim.spairs(given) do
    local lines = lines_of(type(value) == 'string' and value or vim.json.encode(value))
    table.insert(all, ('%s: %s'):format(name, #lines == 1 and lines[1] or ''))
    if #lines > 1 then
      vim.list_extend(
        all,
        vim.tbl_map(function(line)
          return '  ' .. line
        end, lines)
      )
    end
  end
  return all
end

---@param action dapeer.Action
---@param kinds dapeer.Kind[]
---@param to_approve dapeer.Kind[]
---@return string[] lines
---@return integer first  the line of the first choice
local function lines_for(action, kinds, to_approve)
  local lines = { ('The assistant wants %s (%s):'):format(action.tool, table.concat(kinds, ', ')) }
  vim.list_extend(lines, argument_lines(action.arguments or '{}'))
  table.insert(lines, '')
  local first = #lines + 1
  vim.list_extend(lines, {
    '[d] Deny',
    '[a] Allow once',
    ('[s] Allow %s for this session'):format(table.concat(to_approve, ', ')),
  })
  return lines, first
end

---@param lines string[]
---@return table  for nvim_open_win
local function place(lines)
  local width = math.max(math.min(vim.o.columns - 4, WIDEST), 1)
  local height = 0
  for _, line in ipairs(lines) do
    height = height + math.max(math.ceil(vim.fn.strdisplaywidth(line) / width), 1)
  end
  local most = math.max(vim.o.lines - vim.o.cmdheight - 4, 1)
  local shown = math.min(height, most)
  -- Where the person does not write, if there is room.
  local below = vim.fn.screenrow() <= vim.o.lines / 2
  return {
    relative = 'editor',
    width = width,
    height = shown,
    row = below and math.max(vim.o.lines - vim.o.cmdheight - shown - 3, 0) or 1,
    col = math.max(vim.o.columns - width - 2, 0),
    footer = shown < height and ' more below · :Dapeer answer goes there '
      or ' :Dapeer allow | allow session | deny | answer ',
  }
end

---@param consent dapeer.Consent
---@param done fun(verdict: dapeer.Verdict)
local function map(consent, done)
  local function key(keys, action)
    vim.keymap.set('n', keys, action, { buffer = consent.buffer, nowait = true })
  end
  local verdicts = { a = 'allow', s = 'session', d = 'deny', q = 'none', ['<Esc>'] = 'none', ['<C-c>'] = 'none' }
  for keys, verdict in pairs(verdicts) do
    key(keys, function()
      done(verdict)
    end)
  end
  key('<CR>', function()
    local chosen = ({ 'deny', 'allow', 'session' })[vim.fn.line('.') - consent.first + 1]
    if chosen then
      done(chosen)
    end
  end)
end

-- Modes that are left by going to another window, and to which the person returns: by this command, or by selecting again.
local WRITES = { i = 'startinsert', R = 'startreplace', Rv = 'startgreplace' }
-- A completion, and the one command of Insert mode, are over by then.
local WRITES_BY = { ic = 'i', ix = 'i', niI = 'i', Rc = 'R', Rx = 'R', niR = 'R', Rvc = 'Rv', Rvx = 'Rv', niV = 'Rv' }
local SELECTS = '^[vVsS\19\22]$'

-- A mapping of Visual mode leaves Select mode; this key of Neovim's own, which follows it, leads back there.
local BACK_TO_SELECT = '\128\245X'
local SELECT_OF = { v = 's', V = 'S', ['\22'] = '\19' }

---@param came dapeer.CameFrom
local function notice_select(came)
  local space = vim.api.nvim_create_namespace('dapeer.consent')
  vim.on_key(function(key)
    vim.on_key(nil, space)
    if key == BACK_TO_SELECT then
      came.mode = SELECT_OF[came.mode] or came.mode
      -- Since 0.11 the key goes no further: nothing is selected in the question's window, where it would ring the bell.
      return ''
    end
  end, space)
end

---@param window integer
---@param previous integer
---@param mode string
---@return dapeer.CameFrom
local function coming_from(window, previous, mode)
  local came = {
    mode = WRITES_BY[mode] or mode,
    focus = { window = window, previous = previous },
    view = vim.api.nvim_win_call(window, vim.fn.winsaveview),
  }
  if WRITES[came.mode] then
    vim.cmd.stopinsert()
  elseif vim.api.nvim_get_mode().mode:match(SELECTS) then
    vim.cmd.normal({ '\27', bang = true })
    notice_select(came)
  end
  return came
end

---@param came dapeer.CameFrom
local function go_back(came)
  attention.refocus(came.focus)
  if vim.api.nvim_get_current_win() ~= came.focus.window then
    return
  elseif came.mode == 't' and vim.bo.buftype == 'terminal' then
    vim.cmd.startinsert()
  elseif WRITES[came.mode] then
    vim.fn.winrestview(came.view)
    vim.cmd[WRITES[came.mode]]({ bang = came.view.col >= #vim.api.nvim_get_current_line() })
  elseif came.mode:match(SELECTS) then
    require('dapeer.person.hold').select(came)
  end
end

-- Terminal, Visual and Select mode end just before the person enters another window, by a mouse click, too.
---@param consent dapeer.Consent
local function watch(consent, closed)
  local left
  vim.api.nvim_create_autocmd('ModeChanged', {
    group = consent.group,
    pattern = '[tvVsS\19\22]*:*',
    callback = function()
      left = vim.v.event.old_mode:gsub('^(.)s$', SELECT_OF)
      vim.schedule(function()
        left = nil
      end)
    end,
  })
  vim.api.nvim_create_autocmd('WinEnter', {
    group = consent.group,
    callback = function()
      local window = vim.fn.win_getid(vim.fn.winnr('#'))
      if vim.api.nvim_get_current_win() ~= consent.window then
        -- The person has left the question, and may return to it from somewhere else.
        consent.came = nil
      elseif not consent.came then
        consent.came = coming_from(window, 0, left or vim.api.nvim_get_mode().mode)
      end
    end,
  })
  vim.api.nvim_create_autocmd('WinClosed', {
    group = consent.group,
    callback = function(event)
      if not consent.over and event.match == tostring(consent.window) then
        local inside = vim.api.nvim_get_current_win() == consent.window
        M.close(consent)
        vim.schedule(function()
          closed(inside)
        end)
      end
    end,
  })
end

---Open the window of a question in the tab page that the person looks at.
---@param consent dapeer.Consent
---@param lines string[]
local function show(consent, lines)
  consent.window = vim.api.nvim_open_win(
    consent.buffer,
    false,
    vim.tbl_extend('force', place(lines), {
      style = 'minimal',
      border = 'rounded',
      title = ' The assistant asks for your consent ',
      zindex = 60,
      noautocmd = true,
    })
  )
  vim.wo[consent.window].wrap = true
  vim.wo[consent.window].winfixbuf = true
end

---Take the question along to the tab page that the person has gone to.
---@param consent dapeer.Consent
---@param lines string[]
local function follow(consent, lines)
  local before = consent.window
  local is_here = vim.api.nvim_win_is_valid(before)
    and vim.api.nvim_win_get_tabpage(before) == vim.api.nvim_get_current_tabpage()
  -- No window opens beside the command-line window.
  if consent.over or is_here or not pcall(show, consent, lines) then
    return
  end
  consent.came = nil
  pcall(vim.api.nvim_win_close, before, true)
  vim.cmd.redraw()
end

---Show a question; the person stays where they are.
---@param action dapeer.Action
---@param kinds dapeer.Kind[]
---@param to_approve dapeer.Kind[]
---@param done fun(verdict: dapeer.Verdict)
---@param closed fun(inside: boolean)  its window was closed, by the person in it, or by others
---@return dapeer.Consent
function M.open(action, kinds, to_approve, done, closed)
  local lines, first = lines_for(action, kinds, to_approve)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].undofile = false
  vim.bo[buffer].modifiable = false
  local consent = { buffer = buffer, first = first }
  consent.group = vim.api.nvim_create_augroup('dapeer_consent_' .. buffer, { clear = true })
  show(consent, lines)
  vim.bo[buffer].filetype = 'dapeer_consent'
  map(consent, done)
  watch(consent, closed)
  vim.api.nvim_create_autocmd('VimResized', {
    group = consent.group,
    callback = function()
      pcall(vim.api.nvim_win_set_config, consent.window, place(lines))
    end,
  })
  vim.api.nvim_create_autocmd('TabEnter', {
    group = consent.group,
    callback = vim.schedule_wrap(function()
      follow(consent, lines)
    end),
  })
  vim.cmd.redraw()
  return consent
end

-- Not while half of a command is typed, which would go on in the question's window.
local function may_enter()
  local mode = vim.api.nvim_get_mode().mode
  mode = not mode:match('^ni') and WRITES_BY[mode] or mode
  return (WRITES[mode] or mode:match('^n?t?$') or mode:match(SELECTS)) and vim.fn.getcmdwintype() == ''
end

---Take the person to the question: to its first choice, which is no.
---@param consent dapeer.Consent
function M.enter(consent)
  if consent.wait then
    consent.wait()
  end
  consent.wait = attention.when(may_enter, function()
    if vim.api.nvim_get_current_win() ~= consent.window then
      local focus = attention.focus()
      consent.came = coming_from(focus.window, focus.previous, vim.api.nvim_get_mode().mode)
      vim.api.nvim_set_current_win(consent.window)
    end
    vim.api.nvim_win_set_cursor(consent.window, { consent.first, 0 })
  end)
end

---Remove the question; who was in it is back where they came from.
---@param consent dapeer.Consent
function M.close(consent)
  if consent.over then
    return
  end
  consent.over = true
  if consent.wait then
    consent.wait()
  end
  pcall(vim.api.nvim_del_augroup_by_id, consent.group)
  local inside = vim.api.nvim_get_current_win() == consent.window
  pcall(vim.api.nvim_win_close, consent.window, true)
  if inside and consent.came then
    go_back(consent.came)
  end
end

return M
