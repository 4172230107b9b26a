return require('dapeer')
