"""What the calls of ``cases`` may use: each library's functions, and the same small arrays."""

import numpy as np
from cases import EMPTY, HF, JAX, MASK, MHA, ONNX, ROW, RUNTIME, SDPA, K, Q, V, W

A = np.zeros((2, 3, 5, 4), np.float32)  # batch, head, position, feature
X = np.zeros((2, 5, 12), np.float32)  # batch, position, the features of all heads
FOUR, TWO_HEADS = np.zeros((1, 4, 1, 4), np.float32), np.zeros((1, 2, 1, 4), np.float32)
TWO_HEADS += np.array([10, 20], np.float32)[:, None, None]


def tensors(**arrays):
    import torch

    return {name: torch.tensor(array) for name, array in arrays.items()}


def sample(array):
    """Put the axes of the batch and the head before an array."""
    return array[None, None]


def of_pytorch():
    import torch
    from torch.nn.attention.bias import causal_lower_right
    from torch.nn.functional import linear, scaled_dot_product_attention

    names = tensors(row=ROW, w=W, q=sample(Q), k=sample(K), v=sample(V), a=A,
                    b=A.swapaxes(1, 2), mask=MASK,
                    empty=EMPTY, ones=MASK.astype(np.float32), four=FOUR, two_heads=TWO_HEADS)
    return {**names, "sdpa": scaled_dot_product_attention, "inf": torch.inf, "linear": linear,
            "causal_lower_right": causal_lower_right, "softmax": torch.softmax,
            "scores": names["q"] @ names["k"].mT / 2}


def of_multihead_attention():
    """Return a layer that changes nothing but attends: its weights are ones on the diagonal."""
    import torch

    def mha(query, *others, batch_first=True, **options):
        width = query.shape[-1]
        layer = torch.nn.MultiheadAttention(width, width // 4, bias=False,
                                            batch_first=batch_first)
        with torch.no_grad():
            layer.in_proj_weight[:] = torch.eye(width).tile(3, 1)
            layer.out_proj.weight[:] = torch.eye(width)
            return layer(query, *others, **options)

    return {**tensors(q=Q[None], k=K[None], v=V[None], x=X, mask=MASK, empty=EMPTY,
                      ones=MASK.astype(np.float32), padding=np.array([[False, False, True]])),
            "mha": mha}


def of_jax():
    import jax

    def rows(array):  # batch, position, head, feature
        return jax.numpy.asarray(array[None, :, None])

    return {"q": rows(Q), "k": rows(K), "v": rows(V), "b": A.swapaxes(1, 2), "mask": sample(MASK),
            "ones": sample(MASK.astype(np.float32)), "empty": sample(EMPTY),
            "two": np.array([2]), "four": FOUR.swapaxes(1, 2),
            "two_heads": TWO_HEADS.swapaxes(1, 2),
            "dot_product_attention": jax.nn.dot_product_attention}


def of_hugging_face():
    import torch
    from transformers import DynamicCache, LlamaConfig, StaticCache
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import (
        create_bidirectional_mask,
        create_causal_mask,
        create_sliding_window_causal_mask,
    )
    from transformers.models.llama.modeling_llama import (
        LlamaAttention,
        eager_attention_forward,
        repeat_kv,
    )

    config = LlamaConfig(hidden_size=4, num_attention_heads=1, num_hidden_layers=1,
                         attn_implementation="sdpa")
    names = tensors(q=sample(Q), k=sample(K), v=sample(V), a=A, mask=sample(MASK),
                    empty=sample(EMPTY), ones=sample(MASK.astype(np.float32)),
                    two_heads=TWO_HEADS, x=Q[None], keep=np.array([[1, 1, 0]]))
    past, filled = DynamicCache(), DynamicCache()
    past.update(names["k"][:, :, :1], names["v"][:, :, :1], 0)
    filled.update(names["a"], names["a"], 0)
    after = {"config": config, "inputs_embeds": names["x"], "attention_mask": None, "cache": past}
    narrow = LlamaConfig(**config.to_dict() | {"sliding_window": 2})
    narrow._attn_implementation = "sdpa"
    return {**names, "config": config, "layer": LlamaAttention(config, 0).eval(),
            "allow_all": torch.ones(1, 1, 2, 3, dtype=torch.bool),
            "lowest": torch.where(names["empty"], 0, torch.finfo(torch.float32).min),
            "filled": filled,
            "after_one": create_causal_mask(**after),
            "window_of_two": create_sliding_window_causal_mask(**after | {"config": narrow}),
            "create_bidirectional_mask": create_bidirectional_mask, "repeat_kv": repeat_kv,
            "sdpa_attention_forward": sdpa_attention_forward, "StaticCache": StaticCache,
            "eager_attention_forward": eager_attention_forward, "DynamicCache": DynamicCache}


def of_onnx(evaluate):
    """Return the operator as a function: a model of one node, which ``evaluate`` runs."""
    from onnx import TensorProto, checker, helper

    inputs = ["Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"]
    outputs = ["Y", "present_key", "present_value", "qk_matmul_output"]

    def attention(q, k, v, attn_mask=None, *, returned=0, **options):
        arrays = dict(zip(inputs, (q, k, v, attn_mask), strict=False))
        arrays |= {name: options.pop(name) for name in inputs if name in options}
        given = {name: array for name, array in arrays.items() if array is not None}
        made = outputs[:max(returned + 1, 3 if "past_key" in given else 1)]
        node = helper.make_node("Attention", [name if name in given else "" for name in inputs],
                                made, **options)
        graph = helper.make_graph(
            [node], "one", [helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                for name, array in given.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT,
                                           [None] * (q.ndim if name == "Y" else 4))
             for name in made])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)],
                                  ir_version=10)
        checker.check_model(model)
        return evaluate(model, given)[returned]

    arrays = {"q": sample(Q), "k": sample(K), "v": sample(V), "a": A, "x": X, "mask": MASK,
              "ones": MASK.astype(np.float32), "empty": EMPTY, "four": FOUR,
              "two_heads": TWO_HEADS, "two": np.array([2]), "three": np.array([3])}
    parts = {"k1": arrays["k"][:, :, :1], "k2": arrays["k"][:, :, 1:],
             "v1": arrays["v"][:, :, :1], "v2": arrays["v"][:, :, 1:]}
    return {**arrays, **parts, "Attention": attention}


def by_reference(model, arrays):
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model).run(None, arrays)


def by_runtime(model, arrays):
    from onnxruntime import InferenceSession

    session = InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, arrays)


NAMES = {SDPA: of_pytorch, MHA: of_multihead_attention, JAX: of_jax, HF: of_hugging_face,
         ONNX: lambda: of_onnx(by_reference), RUNTIME: lambda: of_onnx(by_runtime)}
