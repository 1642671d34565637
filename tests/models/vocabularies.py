"""Small tokenizers of the kinds that models have, trained on the spot."""

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

CORPUS = ["The page table maps pages. Héllo wörld, 漢字 and 🎉!", "def f(x):\n    return x + 1234"] * 4


def byte_level() -> Tokenizer:
    """Byte-level BPE as SmolLM, Llama 3 and Qwen have, with special, ordinary added, and a begin token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def with_begin(tokenizer: Tokenizer, token: str = "<|endoftext|>") -> Tokenizer:
    """The tokenizer, made to put a token before every text."""
    id_ = tokenizer.token_to_id(token)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{token} $A", special_tokens=[(token, id_)]
    )
    return tokenizer


def sentence_piece() -> Tokenizer:
    """Characters with bytes to fall back on and a mark for spaces, as Llama 2 has."""
    words = ["▁", *"abcdefgh", "▁the", "▁page", "é"]
    vocabulary = {token: id_ for id_, token in enumerate(["<unk>", "<s>", "</s>"])}
    for token in [*(f"<0x{byte:02X}>" for byte in range(256)), *words]:
        vocabulary[token] = len(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in ("<unk>", "<s>", "</s>")])
    return tokenizer
