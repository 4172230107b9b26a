-- What lazy.nvim takes when it is told nothing else; made by `python -m tools.packages`.
return { 'dapeer', optional = true, dependencies = { 'mfussenegger/nvim-dap' }, opts = {} }
