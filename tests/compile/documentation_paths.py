# SPDX-License-Identifier: Apache-2.0
"""usage: documentation_paths.py SOURCE

In every *.md file, each relative link leads to a file, or to a heading of a page, and each path in
backquotes exists, seen from the root or from the page's own folder. Code blocks are not looked at."""
import fnmatch
import pathlib
import re
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"],
                        cwd=source, capture_output=True, text=True).stdout.splitlines()
files = [name for name in listed if (source / name).is_file()]
if not files:  # a copy that is no clone
    files = [p.relative_to(source).as_posix() for p in source.rglob("*")
             if p.is_file() and p.relative_to(source).parts[0] not in ("build", ".git")]
folders = {parent.as_posix() for name in files for parent in pathlib.PurePath(name).parents} - {"."}
known = set(files) | folders
names = {pathlib.PurePath(name).name for name in files}
roots = {pathlib.PurePath(name).parts[0] for name in folders}
SOURCES = (".c", ".cpp", ".hpp", ".h", ".cu", ".cuh", ".py", ".sh", ".def", ".md", ".mutant")
# Files that commands write, files of others, and a tensor's name.
ELSEWHERE = {"docs/results/attention-kernels.md", "docs/results/training.md", "docs/results/gpt2.md",
             "report.md", "mine.c", "alibi.h", "FlashAttentionKernel.cpp", "position.c"}


def resolved(page, path):
    """The path from the root, or None where it leaves the repository."""
    parts = []
    for part in [*pathlib.PurePath(page).parts[:-1], *path.split("/")]:
        if part == ".." and not parts:
            return None
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def exists(path):
    if path is None:
        return False
    pattern = re.sub(r"<[^>]*>", "*", path)
    return path in ("", *known) or ("*" in pattern and any(fnmatch.fnmatchcase(x, pattern) for x in known))


def anchors(page):
    """The anchors of its headings, as code hosts make them."""
    text = re.sub(r"^```.*?^```", "", (source / page).read_text("utf-8"), flags=re.S | re.M)
    headings = re.findall(r"^#+ +(.*?) *$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


wrong, looked = [], 0
pages = [name for name in files if name.endswith(".md")]
for page in pages:
    text = re.sub(r"^```.*?^```", "", (source / page).read_text("utf-8"), flags=re.S | re.M)
    for link in re.findall(r"\]\(([^()\s]+)\)", re.sub(r"`[^`\n]+`", "", text)):
        if re.match(r"[a-z]+:", link):
            continue
        looked += 1
        path, _, anchor = link.partition("#")
        target = resolved(page, path) if path else page
        if not exists(target):
            wrong.append(f"{page}: the link {link}")
        elif anchor and target.endswith(".md") and anchor not in anchors(target):
            wrong.append(f"{page}: the link {link}: no such heading")
    for quoted in re.findall(r"`([^`\n]+)`", text):
        path = quoted.rstrip("/")
        if "newbias" in path or path in ELSEWHERE or not re.fullmatch(r"[\w.*<>-]+(/[\w.*<>-]+)*", path):
            continue
        if "/" in path and (path.split("/")[0] in roots | {".."} or path.endswith(SOURCES)):
            looked += 1
            if not exists(path) and not exists(resolved(page, path)):
                wrong.append(f"{page}: the path {quoted}")
        elif path.endswith(SOURCES):
            looked += 1
            if not any(fnmatch.fnmatchcase(name, path) for name in names):
                wrong.append(f"{page}: no file is named {quoted}")
if wrong or looked < 300:
    sys.exit("\n".join(wrong or [f"only {looked} links and paths were found"]))
print(f"{looked} links and paths in {len(pages)} pages exist")
