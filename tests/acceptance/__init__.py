"""The program as its users meet it, beside a naive model: the command line, the HTTP API, and a text file."""
