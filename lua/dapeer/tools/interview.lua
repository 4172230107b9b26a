-- The tool that asks the person.
local QUESTION = {
  type = 'object',
  properties = {
    question = { type = 'string', minLength = 1, required = true },
    choices = {
      type = 'array',
      items = { type = 'string' },
      minItems = 1,
      maxItems = 50,
      description = 'without: the person writes',
    },
    multiple = { type = 'boolean', description = 'several choices' },
    other = { type = 'boolean', description = 'may write something else; default true' },
    default = { type = 'integer', minimum = 1, description = 'number of a choice' },
  },
  additionalProperties = false,
}

---@param answers dapeer.ask.Answer[]
---@param complete boolean
local function result(answers, complete)
  local lines = vim.tbl_map(function(one)
    local answer = type(one.answer) == 'table' and table.concat(one.answer, '; ') or one.answer
    return ('%s → %s'):format(one.question, answer)
  end, answers)
  if not complete then
    table.insert(lines, 'The person gave no answer.')
  end
  return require('dapeer.results').result(table.concat(lines, '\n'), { answered = complete, answers = answers })
end

return {
  {
    name = 'ask_user',
    title = 'Ask the person',
    description = 'Ask the person in Neovim and wait for the answers. Use it when a decision is theirs.',
    args = {
      questions = {
        type = 'array',
        items = QUESTION,
        minItems = 1,
        maxItems = 20,
        required = true,
      },
    },
    read_only = true,
    timeout = 0,
    execute = function(cb, args, ctx)
      if #vim.api.nvim_list_uis() == 0 then
        return cb(nil, 'No person can answer in this Neovim: it has no user interface. Ask in the chat.')
      end
      ctx.on_cancel(require('dapeer.person.ask').ask(args.questions, function(answers, complete, problem)
        if problem then
          return cb(nil, ('The person was not asked: %s. Ask in the chat.'):format(problem))
        end
        cb(result(answers, complete))
      end, function()
        ctx.progress('The person sees the question.')
      end))
    end,
  },
}
