-- Texts of others as they are shown: cut to the room that there is (the only place where one is cut), and with what no
-- eye sees as escapes.
local M = {}

-- Characters without a look: what Python's dapeer.base.text.lines escapes, too.
local UNSEEN = {
  { 0x80, 0x9f },
  { 0xad, 0xad },
  { 0x61c, 0x61c },
  { 0x115f, 0x1160 },
  { 0x17b4, 0x17b5 },
  { 0x180e, 0x180e },
  { 0x200b, 0x200f },
  { 0x2028, 0x202e },
  { 0x2060, 0x206f },
  { 0x3164, 0x3164 },
  { 0xfeff, 0xfeff },
  { 0xffa0, 0xffa0 },
  { 0xfff9, 0xfffb },
  { 0x1bca0, 0x1bca3 },
  { 0x1d173, 0x1d17a },
  { 0xe0000, 0xe007f },
}

---@param byte string
---@return string
local function escaped_byte(byte)
  return ('\\x%02x'):format(byte:byte())
end

---@param character string  of several bytes
---@return string
local function escaped_character(character)
  local bytes = { character:byte(1, -1) }
  local code = bytes[1] % 2 ^ (7 - #bytes)
  for index = 2, #bytes do
    code = code * 64 + bytes[index] % 64
  end
  for _, range in ipairs(UNSEEN) do
    if range[1] <= code and code <= range[2] then
      return (code < 0x100 and '\\x%02x' or code < 0x10000 and '\\u%04x' or '\\U%08x'):format(code)
    end
  end
  return character
end

---A text whose control characters, but for the tab and the line's end, and other unseen ones are escapes. Legal in a luv
---callback.
---@param text string
---@return string
function M.escaped(text)
  return (text:gsub('[%z\1-\8\11-\31\127]', escaped_byte):gsub('[\194-\244][\128-\191]+', escaped_character))
end

---A text in one line, escaped. Legal in a luv callback.
---@param text string
---@return string
function M.line(text)
  return M.escaped((text:gsub('%s+', ' ')))
end

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
