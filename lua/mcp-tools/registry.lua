return require('dapeer.registry')
