-- :checkhealth mcp-tools
return require('dapeer.health')
