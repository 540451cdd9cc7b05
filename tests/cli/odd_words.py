# SPDX-License-Identifier: Apache-2.0
"""usage: odd_words.py PLUMBLINE ODD_KERNELS

Kernels' words and files' names that are no text: every report stays what it says it is, as strict
parsers read it, and no control character reaches the terminal."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

program, kernels = sys.argv[1:]
ODD = b"odd\x1b[31m\xff\x01'<&\x7f.file"
SHOWN = "\\x1b[31m"
CASE = "bias=nope,dtype=fp32,heads=1,kv_heads=1,queries=4,keys=4,head_dim=32"


def text_of(data, what):
    """As UTF-8, without control characters."""
    text = data.decode()
    bad = [c for c in text if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160]
    assert not bad, f"{what}: {bad} in {text}"
    return text


def run(status, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, timeout=100, cwd=place,
                          stdin=subprocess.DEVNULL)
    said = text_of(done.stdout, arguments) + text_of(done.stderr, arguments)
    assert done.returncode == status, f"{arguments}: status {done.returncode}: {said}"
    return said


def markup(path):
    text = text_of(path.read_bytes(), path)
    return "".join(xml.etree.ElementTree.fromstring(text).itertext())


with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    library = os.fsencode(place) + b"/" + ODD
    shutil.copy(kernels, library)
    said = run(1, "verify", "--kernel", library, "--case", CASE, "--junit", "junit.xml", "--sarif",
               "sarif.json", "--html", "page", "--json", "report.json")
    assert "the kernel returned 7: no room " + SHOWN in said, said
    # The line that repeats it does.
    (line,) = [l for l in said.splitlines() if "repeat: " in l]
    line = line.partition("repeat: ")[2].replace("./plumbline", program, 1)
    again = subprocess.run(["bash", "-c", line], capture_output=True, cwd=place)
    assert again.returncode == 1 and b"no room" in again.stdout, again
    for name in ("report.json", "sarif.json"):
        assert "no room" in text_of((place / name).read_bytes(), name)
    report = json.loads((place / "report.json").read_bytes())
    assert SHOWN in report["library"] and SHOWN in report["device"], report
    sarif = json.loads((place / "sarif.json").read_bytes())
    assert SHOWN in sarif["runs"][0]["results"][0]["message"]["text"], sarif
    page = place / "page" / "index.html"
    assert SHOWN in markup(place / "junit.xml") and SHOWN in markup(page)

    # Outputs whose kernel has such a name, in such files.
    run(0, "vectors", ODD + b".folder", "--case", CASE)
    (case,) = (place / os.fsdecode(ODD + b".folder")).glob("*.safetensors")
    case = case.rename(place / os.fsdecode(ODD + b".case"))
    outputs = place / os.fsdecode(ODD + b".outputs")
    fields = {"format_version": 1, "kernel": "\x1b[31m \uffff \x01 <&\"'"}
    header = json.dumps({
        "__metadata__": {"plumbline": json.dumps(fields)},
        "o": {"dtype": "F32", "shape": [1, 1, 4, 32], "data_offsets": [0, 512]},
        "lse": {"dtype": "F32", "shape": [1, 1, 4], "data_offsets": [512, 528]}}).encode()
    outputs.write_bytes(struct.pack("<Q", len(header)) + header + bytes(528))
    said = run(1, "judge", case, outputs, "--json", "judged.json", "--junit", "judged.xml",
               "--html", "judged")
    assert SHOWN in said
    json.loads(text_of((place / "judged.json").read_bytes(), "judged.json"))
    markup(place / "judged.xml")
    assert SHOWN in markup(place / "judged" / "index.html")
    run(0, "oracle", case, ODD + b".oracle")
    for broken in (ODD + b".oracle", b"missing" + ODD, b"judged.json"):
        assert "expected" in run(2, "judge", case, broken)

    # What is refused.
    for arguments in (["verify", "--kernel", b"missing" + ODD], ["verify", "--kernel", outputs],
                      ["verify", "--pass", ODD], ["verify", "--case", ODD], ["verify", ODD],
                      ["verify", "--cases", ODD], ["golden", "check", ODD], ["tokenize", ODD],
                      ["verify", "--kernel", library, "--json", library]):
        run(2, *arguments)
    text = place / os.fsdecode(ODD + b".txt")
    text.write_text("a text")
    run(0, "tokenize", text, "--out", ODD + b".bin", "--json", "shard.json")
    json.loads(text_of((place / "shard.json").read_bytes(), "shard.json"))
