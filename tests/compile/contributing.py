# SPDX-License-Identifier: Apache-2.0
"""usage: contributing.py SOURCE

What CONTRIBUTING.md names exists: paths in backquotes, links, and names in backquotes, which some source
has. `newbias` stands for what is to be written."""
import pathlib
import re
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
text = (source / "CONTRIBUTING.md").read_text()
sources = subprocess.run(["git", "ls-files", "*.hpp", "*.h", "*.cuh", "*.cpp", "*.cu", "*.py", "*.json"],
                         cwd=source, capture_output=True, text=True).stdout.split()
if not sources:  # a copy that is no clone
    sources = [p for p in source.rglob("*.[hc]*") if "build" not in p.parts]
words = set()
for path in sources:
    words.update(re.findall(r"\w+", (source / path).read_text(errors="replace")))

wrong, looked = [], 0
for link in re.findall(r"\]\(([^)#]+)\)", text):
    looked += 1
    if not (source / link).exists():
        wrong.append(f"the link {link}")
for quoted in re.findall(r"`([^`\n]+)`", text):
    if "newbias" in quoted.lower() or " " in quoted:
        continue
    if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", quoted) and ("/" in quoted or "." in quoted):
        looked += 1
        if not (source / quoted).exists():
            wrong.append(f"the path {quoted}")
    elif re.fullmatch(r"[A-Za-z_]\w*", quoted):
        looked += 1
        if quoted not in words:
            wrong.append(f"the name {quoted}")
if wrong or looked < 40:
    sys.exit("CONTRIBUTING.md names what is not there: " + ", ".join(wrong or [f"{looked} words"]))
print(f"{looked} paths, links and names of CONTRIBUTING.md exist")
