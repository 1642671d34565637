"""A forward of the Llama, Qwen2 and Qwen3 families over paged keys and values, in plain torch.

One implementation: the families differ in a bias and two norms. Knows nothing of requests, and finds pages
only through the block table, when it runs.
"""

from collections.abc import Sequence

import torch
from torch.nn import functional
from tracert_kernels.dispatch import Kernels
from tracert_kernels.guard import Guard
from tracert_kernels.kv_types import Covers
from tracert_kernels.scratch import Scratch

from tracert.models import activations
from tracert.models.activations import Activations
from tracert.models.batch import Batch
from tracert.models.config import ModelConfig
from tracert.models.rope import Rotation, inverse_frequencies
from tracert.models.weights import LayerWeights, Weights


class Decoder:
    """Weights, and how to run tokens through them."""

    def __init__(self, config: ModelConfig, weights: Weights, kernels: Kernels) -> None:
        """`kernels` as `tracert_kernels.dispatch.for_device` gives them for the device of the weights."""
        self.config = config
        self.dtype = weights.embedding.dtype
        self.device = weights.embedding.device
        self._weights = weights
        self.kernels = kernels
        self._own = Scratch(), Scratch()
        self._frequencies = inverse_frequencies(config.rope, config.head_dim).to(self.device)

    def planned(
        self, queries: Sequence[int], contexts: Sequence[int], page_size: int, cache_dtype: torch.dtype
    ) -> tuple[int, int]:
        """Bytes of scratch that a forward takes: for activations, and for attention.

        `queries` are the new tokens of each sequence, `contexts` its tokens including them.
        """
        config = self.config
        found = activations.shapes(config, self._weights.layers[0], sum(queries))
        attention = self.kernels.attention_room(
            queries, contexts, page_size, config.heads, config.kv_heads, config.head_dim, cache_dtype
        )
        return activations.planned(found, self.dtype), attention

    @torch.inference_mode()
    def forward(
        self,
        batch: Batch,
        cache: torch.Tensor,
        table: torch.Tensor,
        scratch: tuple[Scratch, Scratch] | None = None,
        *,
        covers: Covers = "valid",
        guard: Guard | None = None,
    ) -> torch.Tensor:
        """Store keys and values of the batch's T tokens; the logits of L of them: float32 [L, vocab].

        `cache` [pages, layers, 2, page_size, kv_heads, W] of a KV type and `table` int32 [rows, width] are on
        the decoder's device; the batch may be on the host. `scratch` for activations and for attention is as
        large as `planned` says; without it the decoder has its own. `covers` is how much of its pages a
        sequence with one new token loads (`tracert_kernels.kv_types`). With `guard`, its kernels note what
        they see, and a sequence whose row names no page is left out: its logits mean nothing. IndexError for
        a token, row or page out of range.
        """
        config, weights, kernels = self.config, self._weights, self.kernels
        for_activations, for_attention = scratch or self._own
        batch = Batch(*(each.to(self.device, non_blocking=True) for each in batch))
        if guard is not None:
            kernels.follow_rows(guard, table, batch.rows, batch.context, cache.shape[3], cache.shape[0])
            table = guard.seen
        plan = kernels.plan(
            table,
            batch.rows,
            batch.query_start,
            batch.context,
            batch.token_row,
            batch.position,
            cache.shape[3],
            scratch=for_attention,
            guard=guard,
        )
        rotation = Rotation(self._frequencies, config.rope.attention, batch.position, self.dtype)
        scale = config.head_dim**-0.5
        shape = (config.hidden,)
        found = activations.shapes(config, weights.layers[0], len(batch.tokens))
        room = activations.take(found, self.dtype, for_activations)
        x = torch.index_select(weights.embedding, 0, batch.tokens, out=room.residual)
        # What all layers see alike is looked up once: it counts, at one token a step.
        attended = room.attended.flatten(1)
        queries, keys = room.rotated[:, : config.heads], room.rotated[:, config.heads :]
        for index, layer in enumerate(weights.layers):
            value = self._project(
                layer, functional.rms_norm(x, shape, layer.input_norm, config.eps), rotation, room
            )
            room.query.copy_(queries)
            pages = cache[:, index]
            guard = guard and guard._replace(layer=index)
            kernels.store_kv(
                keys, value, pages, table, batch.token_row, batch.position, plan=plan, guard=guard
            )
            kernels.paged_attention(
                room.attended,
                room.query,
                pages,
                table,
                batch.rows,
                batch.query_start,
                batch.context,
                scale,
                plan=plan,
                covers=covers,
                guard=guard,
            )
            x += layer.output(attended, room.mixed)
            x += _feed_forward(layer, functional.rms_norm(x, shape, layer.post_norm, config.eps), room)
        # A prompt's chunk that is not its last wants no logits.
        if batch.logits_index.numel() == 0:
            return torch.empty(0, config.vocab, device=self.device)
        last = functional.rms_norm(x[batch.logits_index], shape, weights.norm, config.eps)
        return weights.head(last).float()

    def _project(
        self, layer: LayerWeights, x: torch.Tensor, rotation: Rotation, room: Activations
    ) -> torch.Tensor:
        """Values [T, kv_heads, head_dim]; queries and keys, rotated, in `room`."""
        heads, kv_heads, dim = self.config.heads, self.config.kv_heads, self.config.head_dim
        qkv = layer.qkv(x, room.projected).view(-1, heads + 2 * kv_heads, dim)
        turned = qkv[:, : heads + kv_heads]
        if layer.query_norm is not None and layer.key_norm is not None and room.normed_heads is not None:
            query, key, eps = turned[:, :heads], turned[:, heads:], self.config.eps
            turned = torch.cat(
                (
                    functional.rms_norm(query, (dim,), layer.query_norm, eps),
                    functional.rms_norm(key, (dim,), layer.key_norm, eps),
                ),
                1,
                out=room.normed_heads,
            )
        rotation(turned, room.rotated)
        return qkv[:, heads + kv_heads :]


def _feed_forward(layer: LayerWeights, x: torch.Tensor, room: Activations) -> torch.Tensor:
    gate, up = layer.gate_up(x, room.gate_up).chunk(2, -1)
    return layer.down(torch.mul(functional.silu(gate, inplace=True), up, out=room.gated), room.mixed)
