--- What DAP's commands do to a program.
local M = {}

---Requests after which the program runs.
M.RESUMES = {
  ['continue'] = true,
  next = true,
  stepIn = true,
  stepOut = true,
  stepBack = true,
  reverseContinue = true,
  ['goto'] = true,
  restartFrame = true,
}

---Requests after which a stop is the doing of who has sent them.
M.DRIVES = vim.tbl_extend('force', M.RESUMES, { pause = true, restart = true })

return M
