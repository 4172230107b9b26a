-- Texts cut to the room that there is: the only place where one is cut.
local M = {}

---The first bytes of a text, and no half character. Legal in a luv callback.
---@param text string
---@param most integer  bytes
---@return string
function M.head(text, most)
  return #text > most and text:sub(1, most + vim.str_utf_start(text, most + 1)) or text
end

---A text, or its beginning and `…`.
---@param text string
---@param most integer  characters, the `…` included
---@return string
function M.shortened(text, most)
  if #text <= most or vim.fn.strchars(text) <= most then
    return text
  end
  return vim.fn.strcharpart(text, 0, most - 1) .. '…'
end

return M
