"""Every setting once: its declaration, `config.toml`, the command line."""
