"""From a name to a model; what may not be imported; and tiny-random."""

import subprocess
import sys

import pytest
import torch

from tests.models.paging import all_logits, greedy
from tracert.models.config import TINY_RANDOM
from tracert.models.errors import ConfigError
from tracert.models.fetch import ModelSource, resolve
from tracert.models.load import DtypeOption, load_config, load_model, load_tokenizer

TINY = resolve("tiny-random")


def test_no_torch_for_tokenizers() -> None:
    """The API process finds a model, reads its configuration and renders chats without torch."""
    program = (
        "import sys\n"
        "from tracert.models.fetch import resolve\n"
        "from tracert.models.load import load_config, load_tokenizer\n"
        "source = resolve('tiny-random')\n"
        "load_config(source)\n"
        "load_tokenizer(source).render_chat([{'role': 'user', 'content': 'x'}])\n"
        "print([name for name in ('torch', 'numpy', 'transformers') if name in sys.modules])\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_tiny_random_is_the_same_everywhere() -> None:
    """Two loads have the same weights: the first logits are known, on any machine."""
    logits = all_logits(load_model(TINY), list(b"tracert"))
    assert torch.equal(logits, all_logits(load_model(TINY), list(b"tracert")))
    assert (logits.shape, logits.dtype) == ((7, TINY_RANDOM.vocab), torch.float32)


def test_tiny_random_listens() -> None:
    """What it says depends on the whole prompt, is readable, and goes on."""
    tokenizer = load_tokenizer(TINY)
    prompts = [tokenizer.encode(text) for text in ("Alice asks for tea.", "Bobby asks for tea.", "x")]
    answers = greedy(load_model(TINY), prompts, 48)
    texts = [tokenizer.decode(answer) for answer in answers]
    assert len({text[:8] for text in texts}) == 3
    assert all(len(text) == 48 and text.isascii() and text.isprintable() for text in texts)
    assert all(len(set(text)) > 8 for text in texts)


def test_tiny_random_fits_its_tokenizer() -> None:
    """Every id of the model is one of the tokenizer's, and long prompts fit."""
    config, tokenizer = load_config(TINY), load_tokenizer(TINY)
    assert config.vocab == tokenizer.vocab
    assert (config.bos_id, config.eos_ids) == (tokenizer.bos_id, tokenizer.eos_ids)
    assert [tokenizer.token_bytes(id_) for id_ in config.eos_ids] == [b"<|end|>", b"<|im_end|>"]
    assert config.max_position == 262_144


def test_kv_bytes() -> None:
    """Two layers of keys and values of two heads of 16 features in float32."""
    assert TINY_RANDOM.kv_bytes_per_token(4) == 2 * 2 * 2 * 16 * 4


@pytest.mark.parametrize(
    ("option", "expected"), [("fp32", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)]
)
def test_dtype(option: DtypeOption, expected: torch.dtype) -> None:
    """The weights are in the type asked for."""
    assert load_model(TINY, option).dtype == expected
    assert load_model(TINY, expected).dtype == expected


def test_auto_dtype() -> None:
    """tiny-random is float32 unless asked otherwise, so that tests are exact."""
    assert load_model(TINY).dtype == torch.float32


def test_unknown_dtype() -> None:
    """Another type is refused with the choices."""
    with pytest.raises(ConfigError, match="unknown dtype 'int3': give auto, fp32, bf16 or fp16"):
        load_model(TINY, "int3")  # type: ignore[arg-type]


@pytest.mark.weights
def test_smollm2_in_bfloat16(smollm2: ModelSource) -> None:
    """In bfloat16 it still knows the capital of France."""
    tokenizer = load_tokenizer(smollm2)
    prompt = tokenizer.render_chat([{"role": "user", "content": "What is the capital of France?"}])
    answer = greedy(load_model(smollm2, "bf16"), [tokenizer.encode(prompt, add_special=False)], 7)[0]
    assert tokenizer.decode(answer) == "The capital of France is Paris."
