"""The OpenAI HTTP API, metrics, and supervision of the engine process. Never imports torch."""
