#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: fine_tuning.py PLUMBLINE_MODELS

Runs that begin with weights: `train --from`, another length, contrastive training of a BERT's
embeddings, `evaluate retrieval` and the hard negatives that it finds; and what they refuse."""
import json
import math
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

program = sys.argv[1]
failures = []


def run(*arguments, workers="2"):
    environment = {**os.environ, "PLUMBLINE_EMULATION_WORKERS": workers}
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, env=environment)
    return done.returncode, done.stdout, done.stderr


def succeed(*arguments, **options):
    status, output, said = run(*arguments, **options)
    if status != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: status {status}: {said}")
    return output


def check(holds, what):
    if not holds:
        failures.append(what)


def refused(parts, *arguments):
    status, _, said = run(*arguments)
    if status != 2 or not all(part in said for part in parts):
        failures.append(f"{' '.join(map(str, arguments))}: status {status}: {said}")


def tensors(path):
    """name -> bytes"""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__")
    return {name: data[8 + length + t["data_offsets"][0]:8 + length + t["data_offsets"][1]]
            for name, t in header.items()}


def huggingface_model(folder, from_checkpoint, config):
    """Its parameters without the moments."""
    folder.mkdir()
    data = from_checkpoint.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header = {name: entry for name, entry in header.items()
              if not name.startswith(("optimizer.", "__"))}
    end = max(entry["data_offsets"][1] for entry in header.values())
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(
        struct.pack("<Q", len(text)) + text + data[8 + length:8 + length + end])
    (folder / "config.json").write_text(json.dumps(config))


def checkpoint(folder, updates):
    return folder / f"checkpoint-{updates:08}.safetensors"


random.seed(1)
WORDS = sorted({"".join(random.choice("bdfgklmnprst") + random.choice("aeiou") for _ in range(3))
                for _ in range(24)})


def words_and_pairs(place):
    (place / "text.txt").write_text(" ".join(random.choice(WORDS) for _ in range(600)))
    with open(place / "pairs.jsonl", "w") as file:
        for _ in range(96):
            word, other = random.sample(WORDS, 2)
            file.write(json.dumps({"query": f"what is {word}", "positive": f"{word} is here",
                                   "negatives": [f"{other} is here"]}) + "\n")


def task(folder, documents, queries, judgements):
    (folder / "qrels").mkdir(parents=True)
    for name, texts in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps({"_id": f"{name[0]}{n}", "text": text}) + "\n"
                    for n, text in enumerate(texts)))
    lines = [f"q{q}\tc{d}\t1\n" for q, d in judgements]
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    return folder


def ndcg(model, folder, *arguments):
    output = succeed("evaluate", "retrieval", model, "--task", folder, *arguments, "--json")
    return json.loads(output)["points"]


with tempfile.TemporaryDirectory() as place:
    place = pathlib.Path(place)
    words_and_pairs(place)
    text, pairs = place / "text.txt", place / "pairs.jsonl"
    bert = ["--preset", "bert_base", "--layers", 1, "--heads", 1, "--width", 32, "--vocabulary",
            261, "--batch", 4, "--length", 16, "--updates", 2]
    succeed("train", text, "--out", place / "bert", *bert, "--position", "rope")
    succeed("train", text, "--out", place / "budget", "--layers", 1, "--heads", 1, "--width", 32,
            "--length", 16, "--part", 3, "--tokens-per-update", 200, "--updates", 1)
    batch = json.loads((place / "budget" / "run.json").read_text())["batch"]
    check(batch == 12, f"200 tokens in rows of 16, by parts of 3 rows, are {batch} rows, not 12")
    # Sinusoidal positions of CABLE's published code, and what is asked for.
    for n, (given, amplitude) in enumerate((([], 0.1), (["--amplitude", 1], 1))):
        succeed("train", text, "--out", place / f"sinusoidal_{n}", "--layers", 1, "--heads", 1,
                "--width", 32, "--length", 16, "--batch", 1, "--updates", 1, "--position",
                "sinusoidal", *given)
        terms = json.loads((place / f"sinusoidal_{n}" / "run.json").read_text())
        check(terms["model"]["options"]["amplitude"] == amplitude, f"amplitude: {terms}")
    begun = tensors(checkpoint(place / "bert", 2))
    # RoPE's base in BAM's published code, and that of its sinusoidal positions.
    for position, base in (("rope", 500000), ("sinusoidal", 10000)):
        succeed("train", text, "--out", place / f"bam_{position}", "--preset", "bam_120m",
                "--layers", 1, "--heads", 1, "--width", 32, "--vocabulary", 261, "--batch", 1,
                "--length", 16, "--updates", 1, "--position", position)
        terms = json.loads((place / f"bam_{position}" / "run.json").read_text())
        check((terms["model"]["options"]["base"], terms["model"]["options"]["amplitude"]) ==
              (base, 1), f"BAM's base and amplitude: {terms}")
        check(terms["schedule"]["highest"] == 1e-3, f"BAM's rate, appendix C: {terms}")

    # The weights themselves, fresh moments, no update made: at another length and RoPE's base.
    longer = ["train", text, "--from", place / "bert", "--length", 40, "--base", 500000, "--batch",
              2, "--updates", 4, "--save-every", 2, "--keep", 9]
    succeed(*longer, "--out", place / "longer")
    first = tensors(checkpoint(place / "longer", 0))
    check(first.keys() == begun.keys(), "the names of a model that begins with weights")
    for name, values in first.items():
        wanted = bytes(len(values)) if name.startswith("optimizer.") else begun[name]
        check(values == wanted, f"{name} of a model that begins with weights")
    terms = json.loads((place / "longer" / "run.json").read_text())
    check((terms["model"]["context"], terms["model"]["options"]["base"], terms["length"]) ==
          (40, 500000, 40), f"what was changed: {terms}")

    # Gone on with from its middle, it ends with the same bytes; with other weights it is refused.
    shutil.copytree(place / "longer", place / "resumed")
    for updates in (3, 4):
        checkpoint(place / "resumed", updates).unlink(missing_ok=True)
    succeed(*longer, "--out", place / "resumed", "--resume")
    check(checkpoint(place / "longer", 4).read_bytes() ==
          checkpoint(place / "resumed", 4).read_bytes(), "a resumed run's bytes")
    other = [checkpoint(place / "bert", 0) if a == place / "bert" else a for a in longer]
    refused(["--resume", "--from with other weights"], *other, "--out", place / "resumed", "--resume")

    # Contrastive training: embeddings learn to tell words from each other; the same bits for any
    # number of workers; going on from the middle gives them, too.
    contrast = ["train", "--objective", "contrastive", "--pairs", pairs, "--from", place / "bert",
                "--length", 24, "--batch", 8, "--part", 4, "--updates", 30, "--learning-rate",
                3e-3, "--save-every", 10, "--keep", 9]
    outcome = json.loads(succeed(*contrast, "--out", place / "tuned", "--json"))
    check(abs(outcome["loss_of_equal_embeddings"] - math.log(16)) < 1e-12, f"baseline: {outcome}")
    check(outcome["validation_loss"] < 0.5 * math.log(16), f"what contrast teaches: {outcome}")
    shutil.copytree(place / "tuned", place / "again")
    checkpoint(place / "again", 30).unlink()
    succeed(*contrast, "--out", place / "again", "--resume", workers="3")
    check(checkpoint(place / "tuned", 30).read_bytes() ==
          checkpoint(place / "again", 30).read_bytes(), "bytes of contrastive training")

    # By hand: a text is nearest to itself. Relevant is the text itself: nDCG 1; the other one of
    # two, in second place: 1 / log2(3).
    easy = task(place / "easy", WORDS[:12], WORDS[:3], [(0, 0), (1, 1), (2, 2)])
    check([p["ndcg_at_10"] for p in ndcg(place / "bert", easy, "--lengths", "8,16",
                                                "--svg", place / "ndcg.svg")] == [1, 1],
          "texts are nearest to themselves")
    second = task(place / "second", WORDS[:2], WORDS[:1], [(0, 1)])
    drawn = xml.etree.ElementTree.parse(place / "ndcg.svg").getroot()
    words = " ".join(drawn.itertext())
    check("1.0000 at 8." in words and "1.0000 at 16." in words, f"the picture says {words}")
    (point,) = ndcg(place / "bert", second, "--pooling", "cls")
    check(abs(point["ndcg_at_10"] - 1 / math.log2(3)) < 1e-12 and point["length"] == 16,
          f"relevant in second place: {point}")

    # Training helps where it was about the task; hard negatives are the best irrelevant documents.
    asked = task(place / "asked", [f"{word} is here" for word in WORDS],
                 [f"what is {word}" for word in WORDS], [(n, n) for n in range(len(WORDS))])
    mined = place / "mined.jsonl"
    before = ndcg(place / "bert", asked, "--lengths", 24)[0]["ndcg_at_10"]
    after = ndcg(place / "tuned", asked, "--lengths", 24, "--mine", mined, "--negatives",
                 2)[0]["ndcg_at_10"]
    check(after > before and after > 0.8, f"nDCG@10 before {before}, after {after}")
    lines = [json.loads(line) for line in mined.read_text().splitlines()]
    check(len(lines) == len(WORDS) and all(
        line["query"].split()[-1] == line["positive"].split()[0] and len(line["negatives"]) == 2
        and line["positive"] not in line["negatives"] for line in lines), "hard negatives")
    succeed("train", "--objective", "contrastive", "--pairs", mined, "--from", place / "bert",
            "--length", 24, "--batch", 4, "--hard-negatives", 2, "--updates", 1, "--pooling", "cls",
            "--out", place / "on_mined")

    # What is refused.
    gpt = ["--layers", 1, "--heads", 1, "--width", 32, "--length", 16, "--batch", 4, "--updates", 1]
    succeed("train", text, "--out", place / "gpt", *gpt)
    succeed("train", text, "--out", place / "ggd", *gpt, "--position", "ggd")
    # Hugging Face's file, which does not say its tokenizer.
    weights = {name: values for name, values in tensors(checkpoint(place / "gpt", 1)).items()
               if not name.startswith("optimizer.")}
    hugging_face = place / "hugging_face"
    huggingface_model(hugging_face, checkpoint(place / "gpt", 1), {
        "model_type": "gpt2", "n_layer": 1, "n_head": 1, "n_embd": 32, "n_positions": 16,
        "vocab_size": 261})
    succeed("train", text, "--from", hugging_face, "--tokenizer", "byte", "--batch", 2,
            "--updates", 1, "--out", place / "imported")
    first = tensors(checkpoint(place / "imported", 0))
    check(all(first[name] == values for name, values in weights.items()), "an imported model")
    refused(["--tokenizer is missing"], "train", text, "--from", hugging_face, "--out",
            place / "new")
    # A head with weights of its own, whether they are in the file or not.
    huggingface_model(place / "untied", checkpoint(place / "gpt", 1), {
        "model_type": "gpt2", "n_layer": 1, "n_head": 1, "n_embd": 32, "n_positions": 16,
        "vocab_size": 261, "tie_word_embeddings": False})
    refused(["config.json", "tie_word_embeddings is false; expected true"], "train", text, "--from",
            place / "untied", "--tokenizer", "byte", "--batch", 2, "--updates", 1, "--out",
            place / "new")

    new = ["--out", place / "new"]
    begin = ["train", text, *new, "--from", place / "gpt"]
    shard = place / "foreign.bin"  # llm.c's form; a token of another vocabulary
    shard.write_bytes(struct.pack("<256i", 20240520, 1, 200, *[0] * 253) +
                      struct.pack("<200H", *range(100), *range(200, 300)))
    succeed("train", shard, *gpt, "--tokenizer", "gpt2", "--vocabulary", 50257, "--out",
            place / "gpt2")
    damaged, few = place / "damaged.jsonl", place / "few.jsonl"
    damaged.write_text('{"query": "q"}\n' * 20)
    few.write_text("".join(pairs.read_text().splitlines(True)[:8]))
    contrast = ["train", *new, "--objective", "contrastive", "--from", place / "bert", "--pairs"]
    for parts, *arguments in (
            [["none"], "train", text, *new, "--from", place / "none"],
            [["text.txt"], "train", text, *new, "--from", text],
            [["--layers is 2", "expected 1"], *begin, "--layers", 2],
            [["--vocabulary is 300", "expected 261"], *begin, "--vocabulary", 300],
            [["--position is alibi", "expected learnable"], *begin, "--position", "alibi"],
            [["--length is 17", "at most 16", "table of learnable"], *begin, "--length", 17],
            [["foreign.bin", "161 is 261", "size 261: this shard's"], "train", shard, *begin[2:]],
            [["tokenizer is gpt2", "token shards"], "train", text, *new, "--tokenizer", "gpt2",
             "--vocabulary", 50257],
            [["data is missing"], "train", *new],
            [["--objective", '"contrast"'], *begin, "--objective", "contrast"],
            [["objective is contrastive for a causal model", "BERT"], "train", *new, "--from",
             place / "gpt", "--objective", "contrastive", "--pairs", pairs],
            [["pairs is missing"], *contrast[:-1]],
            [["data is", "pairs alone"], *contrast, pairs, text],
            [["damaged.jsonl", "line", "positive is missing"], *contrast, damaged, "--batch", 4],
            [["few.jsonl", "8 pairs", "--batch, 8"], *contrast, few, "--batch", 8],
            [["--temperature is 0"], *contrast, pairs, "--temperature", 0],
            [["--hard-negatives is -1"], *contrast, pairs, "--hard-negatives", -1],
            [["--pooling", '"max"'], *contrast, pairs, "--pooling", "max"],
            [["--length is 2"], *contrast, pairs, "--length", 2],
            [["model is a causal one", "BERT"], "evaluate", "retrieval", place / "gpt", "--task",
             easy],
            [["corpus.jsonl"], "evaluate", "retrieval", place / "bert", "--task", place],
            [["--lengths is 2"], "evaluate", "retrieval", place / "bert", "--task", easy, "--lengths",
             2],
            [["--lengths is 2 lengths", "--mine"], "evaluate", "retrieval", place / "bert",
             "--task", easy, "--lengths", "8,9", "--mine", mined],
            [["--temperature", "only with --objective contrastive"], "train", text, "--out",
             place / "new", "--temperature", 2],
            [["--prior-start", "only without initial weights"], "train", text, *new, "--from", place / "ggd",
             "--prior-start", "uniform"],
            [["--separator", "token shards alone"], "train", shard, *new, "--tokenizer", "gpt2",
             "--vocabulary", 50257, "--separator", "%"],
            [["--sequential", "only with --objective language_model"], *contrast, pairs,
             "--sequential"],
            [["--masking", "only with --objective language_model"], *contrast, pairs, "--masking",
             0.2],
            [["--svg", "standard output"], "evaluate", "retrieval", place / "bert", "--task", easy,
             "--json", "-", "--svg", "-"],
            [["--svg", "standard output"], "evaluate", "retrieval", place / "bert", "--task", easy,
             "--json", "--svg"]):
        refused(parts, *arguments)
        check(not list((place / "new").glob("checkpoint-*")), f"{arguments} left a run")

if failures:
    sys.exit("\n".join(failures))
print("fine-tuned, resumed, retrieved and refused as expected")
