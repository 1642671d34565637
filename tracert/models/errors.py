"""What can be wrong with a model: each is one line that says what, where and what to do."""


class ModelError(Exception):
    """A model cannot be used as it is; the message is for the user."""


class FetchError(ModelError):
    """A model is not where it was said to be, or cannot be fetched."""


class ConfigError(ModelError):
    """A model's configuration is unreadable, or asks for what is not supported."""


class WeightsError(ModelError):
    """A weights file is broken, or a tensor is missing or of the wrong shape."""


class TokenizerError(ModelError):
    """A tokenizer is missing, broken or of an unsupported kind."""


class ChatError(ModelError):
    """There is no chat template, or it refuses the messages."""
