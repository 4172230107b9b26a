"""What a model reads: ten scenarios with real adapters, and docs/answers.md, which shows what each answers."""
