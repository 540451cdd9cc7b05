# SPDX-License-Identifier: Apache-2.0
"""The safetensors container with NumPy alone: the library is not in Debian 12."""
import json
import struct

import numpy

TYPES = {"F64": numpy.dtype("<f8"), "F32": numpy.dtype("<f4")}


def write(path, tensors):
    """tensors: name -> float32 or float64 array."""
    names = {dtype: name for name, dtype in TYPES.items()}
    header, offset = {}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(numpy.ascontiguousarray(array).data)


def read(path):
    """name -> array, mapped from the file."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return {name: numpy.memmap(path, TYPES[entry["dtype"]], "r",
                               8 + length + entry["data_offsets"][0], tuple(entry["shape"]))
            for name, entry in header.items()}
