"""What every package may import: errors, JSON, text, schemas, and the system that dapeer runs on."""
