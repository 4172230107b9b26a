-- What lazy.nvim takes when it is told nothing else; made by `python -m tests.packages`.
return { dependencies = { 'mfussenegger/nvim-dap' }, opts = {} }
