"""The decoder against transformers, and against itself under every way to slice the work."""

from pathlib import Path

import pytest
import torch

from tests.models.conftest import TINY, make_tiny
from tests.models.paging import Paged, all_logits, greedy
from tests.models.reference import reference_smollm2
from tests.some import a_few
from tracert.models.decoder import Decoder
from tracert.models.fetch import ModelSource, resolve
from tracert.models.load import DtypeOption, load_model, load_tokenizer

PROMPTS = [[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5], [8, 9, 7], list(range(40, 75)), [96]]


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Decoder:
    """A tiny Llama in float32."""
    directory = tmp_path_factory.mktemp("llama")
    make_tiny("llama", directory)
    return load_model(resolve(str(directory)), "fp32")


@pytest.mark.parametrize("name", TINY)
def test_agrees_with_transformers(name: str, tmp_path: Path) -> None:
    """Greedy tokens are transformers' and logits are within 1e-3, for every family and variant."""
    model = make_tiny(name, tmp_path)
    decoder = load_model(resolve(str(tmp_path)), "fp32")
    for prompt in PROMPTS:
        ids = torch.tensor([prompt])
        with torch.inference_mode():
            expected = model(ids).logits[0]
            answer = model.generate(ids, max_new_tokens=20, min_new_tokens=20, do_sample=False)[0]
        torch.testing.assert_close(expected, all_logits(decoder, prompt), rtol=0, atol=1e-3)
        found = greedy(decoder, [prompt], 20)[0]
        # generate() never draws the end before min_new_tokens; a sequence that would is compared up to there.
        end = found.index(2) if 2 in found else len(found)
        assert answer[len(prompt) :][:end].tolist() == found[:end]


def test_reads_shards(tmp_path: Path) -> None:
    """Weights in several files give the logits of the same weights in one."""
    make_tiny("qwen3", tmp_path / "one")
    make_tiny("qwen3", tmp_path / "many", max_shard_size="20KB")
    assert len(list((tmp_path / "many").glob("*.safetensors"))) > 2
    one, many = (load_model(resolve(str(tmp_path / name)), "fp32") for name in ("one", "many"))
    assert torch.equal(all_logits(one, PROMPTS[0]), all_logits(many, PROMPTS[0]))


@pytest.mark.parametrize("chunk", [1, 7, 16])
def test_chunks_change_nothing(llama: Decoder, chunk: int) -> None:
    """A prompt in chunks has the logits of the prompt in one piece, and stale bytes of pages play no part."""
    prompt = PROMPTS[2]
    expected = all_logits(llama, prompt)[-1]
    paged = Paged(llama, 1, len(prompt))
    for start in range(0, len(prompt), chunk):
        found = paged.forward([(0, start, prompt[start : start + chunk])])
    torch.testing.assert_close(expected, found[0], rtol=0, atol=1e-4)


@pytest.mark.parametrize("page_size", [16, 64])
def test_batching_changes_nothing(llama: Decoder, page_size: int) -> None:
    """Sequences of different lengths in one batch get the tokens that each gets alone."""
    alone = [greedy(llama, [prompt], 12, page_size)[0] for prompt in PROMPTS]
    assert alone == greedy(llama, PROMPTS, 12, page_size)


def test_prefill_and_decode_share_a_forward(llama: Decoder) -> None:
    """A sequence that decodes is not disturbed by a prompt that begins in the same forward."""
    first, second = PROMPTS[0], PROMPTS[2]
    expected = torch.stack((all_logits(llama, [*first, 7])[-1], all_logits(llama, second)[-1]))
    paged = Paged(llama, 2, 48)
    paged.forward([(1, 0, first)])
    found = paged.forward([(1, len(first), [7]), (0, 0, second)])
    torch.testing.assert_close(expected, found, rtol=0, atol=1e-4)


def test_recomputing_changes_nothing(llama: Decoder) -> None:
    """A preempted sequence, prefilled again with what it had generated, goes on as it would have."""
    prompt = PROMPTS[0]
    expected = greedy(llama, [prompt], 16)[0]
    assert expected[6:] == greedy(llama, [prompt + expected[:6]], 10)[0]


def test_chunk_without_logits(llama: Decoder) -> None:
    """A chunk that wants no logits gets none, of the right width."""
    found = Paged(llama, 1, 16).forward([(0, 0, [1, 2, 3])], logits=False)
    assert found.shape == (0, 97)
    assert found.dtype == torch.float32


@pytest.mark.parametrize(("option", "dtype"), [("bf16", torch.bfloat16), ("fp16", torch.float16)])
def test_narrow_types_round_no_worse(option: DtypeOption, dtype: torch.dtype, tmp_path: Path) -> None:
    """bfloat16 and float16 logits are as close to float32's as transformers' are in that type."""
    model = make_tiny("qwen2", tmp_path)
    ids = torch.tensor([PROMPTS[2]])
    with torch.inference_mode():
        exact, theirs = model(ids).logits[0], model.to(dtype)(ids).logits[0].float()
    ours = all_logits(load_model(resolve(str(tmp_path)), option), PROMPTS[2])
    assert ours.dtype == torch.float32
    assert 0 < (exact - ours).abs().mean() < 1.3 * (exact - theirs).abs().mean()


@pytest.mark.parametrize("broken", ["page", "token", "negative token"])
def test_out_of_range_raises(llama: Decoder, broken: str) -> None:
    """A page or token that does not exist is an IndexError, never a clamped read."""
    paged = Paged(llama, 1, 16)
    token = {"token": 97, "negative token": -1}.get(broken, 5)
    if broken == "page":
        paged.table[0, 0] = 1000
    with pytest.raises(IndexError):
        paged.forward([(0, 0, [token])])


@pytest.mark.weights
@pytest.mark.parametrize("count", a_few(1, [6, 20]))
def test_smollm2_agrees_with_transformers(smollm2: ModelSource, count: int) -> None:
    """SmolLM2's greedy tokens on so many prompts are transformers' in float32, with logits within 1e-3."""
    decoder = load_model(smollm2, "fp32")
    tokenizer = load_tokenizer(smollm2)
    prompts = [tokenizer.encode(text) for text in TEXTS[:count]]
    assert len(prompts) == count
    answers = greedy(decoder, prompts, 16)
    model = reference_smollm2(smollm2)
    whole = [prompt + answer for prompt, answer in zip(prompts, answers, strict=True)]
    width = max(map(len, whole))
    with torch.inference_mode():
        # Padding on the right cannot be seen by what stands before it, so one pass judges every step.
        judged = model(torch.tensor([tokens + [0] * (width - len(tokens)) for tokens in whole])).logits
    for prompt, answer, expected in zip(prompts, answers, judged, strict=True):
        first = len(prompt) - 1
        assert expected[first : first + 16].argmax(-1).tolist() == answer, tokenizer.decode(prompt)
    expected = torch.cat([logits[: len(tokens)] for logits, tokens in zip(judged, whole, strict=True)])
    assert (expected - all_logits(decoder, *whole)).abs().max() < 1e-3


@pytest.mark.weights
def test_smollm2_answers(smollm2: ModelSource) -> None:
    """The weights mean something: wrongly permuted or dequantised, they would know no capital."""
    tokenizer = load_tokenizer(smollm2)
    prompt = tokenizer.render_chat([{"role": "user", "content": "What is the capital of France?"}])
    answer = greedy(load_model(smollm2, "fp32"), [tokenizer.encode(prompt, add_special=False)], 8)[0]
    assert tokenizer.decode(answer) == "The capital of France is Paris."
    assert answer[-1] in tokenizer.eos_ids


TEXTS = [
    "The capital of France is",
    "def fibonacci(n):\n    ",
    "Once upon a time, in a village by the sea,",
    "Water boils at",
    "1, 2, 3, 4, 5,",
    "The three primary colours are",
    "import numpy as np\n\nx = np.",
    "My favourite food is",
    "E = mc^2 means that",
    "Dear Sir or Madam,\n",
    "La capitale de l'Italie est",
    "To be, or not to be,",
    "SELECT name FROM users WHERE",
    "The quick brown fox",
    "A page table maps",
    "In 1969, humans first",
    "Question: What is 7 times 8?\nAnswer:",
    "The opposite of hot is",
    "<html>\n<head>\n<title>",
    "Photosynthesis is the process by which",
]
