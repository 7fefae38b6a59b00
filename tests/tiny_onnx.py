"""Writes very small ONNX models without the onnx package, for the tests of the ONNX folder.

An ONNX file is a protocol buffer; only the handful of fields below is needed.
"""

from __future__ import annotations

import numpy as np

_FLOAT, _INT64 = 1, 7


def embedding_model(
    table: np.ndarray,
    *,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    pooled: bool = False,
) -> bytes:
    """Return a model whose token vectors are rows of `table` (float32, (tokens, dim)).

    With `pooled`, its only output is the sum of the token vectors, one vector per text.
    """
    dim = table.shape[1]
    nodes = [_node("Gather", ["table", inputs[0]], ["last_hidden_state"])]
    output = _value("last_hidden_state", _FLOAT, ["batch", "sequence", dim])
    constants = [_tensor("table", _FLOAT, table.shape, table.astype("<f4").tobytes())]
    if pooled:
        nodes.append(_node("ReduceSum", ["last_hidden_state", "axes"], ["sentence"], keepdims=0))
        constants.append(_tensor("axes", _INT64, (1,), np.array([1], "<i8").tobytes()))
        output = _value("sentence", _FLOAT, ["batch", dim])
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"tiny")
    graph += b"".join(_field(5, constant) for constant in constants)
    graph += b"".join(_field(11, _value(name, _INT64, ["batch", "sequence"])) for name in inputs)
    graph += _field(12, output)
    return _number(1, 8) + _field(7, graph) + _field(8, _field(1, b"") + _number(2, 17))


def _node(operator: str, inputs: list[str], outputs: list[str], **attributes: int) -> bytes:
    data = b"".join(_field(1, name.encode()) for name in inputs)
    data += b"".join(_field(2, name.encode()) for name in outputs)
    data += _field(4, operator.encode())
    for name, value in attributes.items():
        data += _field(5, _field(1, name.encode()) + _number(3, value) + _number(20, 2))
    return data


def _tensor(name: str, kind: int, shape: tuple[int, ...], raw: bytes) -> bytes:
    sizes = b"".join(_number(1, size) for size in shape)
    return sizes + _number(2, kind) + _field(8, name.encode()) + _field(9, raw)


def _value(name: str, kind: int, shape: list[str | int]) -> bytes:
    sizes = [
        _field(2, size.encode()) if isinstance(size, str) else _number(1, size) for size in shape
    ]
    tensor = _number(1, kind) + _field(2, b"".join(_field(1, size) for size in sizes))
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
