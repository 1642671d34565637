"""transformers' model with the weights that tracert reads: what parity and speed are compared with."""

from typing import Any

import torch

from tracert.models.fetch import ModelSource
from tracert.models.gguf_file import open_gguf
from tracert.models.load import load_config
from tracert.models.weights_gguf import GgufReader


def reference_smollm2(source: ModelSource) -> Any:
    """transformers' Llama with the weights of the file."""
    import transformers

    config = load_config(source)
    reader = GgufReader(open_gguf(source.location), config)
    with torch.device("meta"):
        model: Any = transformers.LlamaForCausalLM(
            transformers.LlamaConfig(
                vocab_size=config.vocab,
                hidden_size=config.hidden,
                intermediate_size=config.ffn,
                num_hidden_layers=config.layers,
                num_attention_heads=config.heads,
                num_key_value_heads=config.kv_heads,
                max_position_embeddings=config.max_position,
                rms_norm_eps=config.eps,
                tie_word_embeddings=True,
                rope_parameters={"rope_type": "default", "rope_theta": config.rope.theta},
            )
        )
    shapes = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    del shapes["lm_head.weight"]
    state = {name: reader(name, shape) for name, shape in shapes.items()}
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model.load_state_dict(state, assign=True)
    # The frequencies are no parameters: built on the meta device, they have to be computed again.
    model.model.rotary_emb = type(model.model.rotary_emb)(model.config)
    return model.eval()
