# SPDX-License-Identifier: Apache-2.0
"""The report of a run: report.json, which also tells a later run what is done, report.md for people, and
the archive of both with logs and results. None of them names a path, a user or the machine."""
import datetime
import functools
import getpass
import io
import json
import os
import re
import shutil
import socket
import tarfile

import run

FORMAT = "plumbline-bench-gpu-1"
ARCHIVE = "plumbline-gpu-report.tar.gz"
TABLES = {"bench-attention": "results/attention-kernels.md", "bench-training": "results/training.md"}
MOST_OF_A_LOG = 4 << 20  # bytes of its end: a tool that finds a fault at every launch says a lot
DONE = {"passed", "failed"}


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def write_whole(path, data):
    """A reader sees the file of before or all of data, whenever this process or the machine ends."""
    partial = path.with_name(f".{path.name}.partial")
    with open(partial, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def end_of(log, size=MOST_OF_A_LOG):
    with open(log, "rb") as file:
        file.seek(max(0, os.path.getsize(log) - size))
        return file.read().decode(errors="replace")


@functools.lru_cache(maxsize=None)  # for the report is written again and again
def cells_of(path, _modified):
    """Kernel, pass and format, cases, largest error over its bound and outcome of verify's cells."""
    return [((cell["kernel"], cell["pass"], cell["format"]), cell["cases"],
             max([output["worst"] or 0.0 for output in cell["outputs"].values()], default=0.0),
             cell["outcome"]) for cell in json.loads(path.read_text())["cells"]]


def names_of_people_and_machine():
    names = {socket.gethostname(), socket.gethostname().split(".")[0]}
    try:
        names.add(getpass.getuser())
    except (KeyError, OSError):  # a user without a name
        pass
    return names - {"root", "localhost", ""}


class Report:
    def __init__(self, folder, names, commit, toy, again, places):
        """Of the steps of those names. places: folders whose paths are left out before any others."""
        self.folder, self.names, self.again = folder, names, again
        self.places = sorted(map(str, places), key=len, reverse=True)
        self.state = {"format": FORMAT, "commit": commit, "toy": toy, "begun": now(), "steps": {}}
        before = self.read(folder / "report.json")
        same = before and (before["commit"], before["toy"]) == (commit, toy)
        if before and not same and not again:
            run.refuse(f"--out is '{folder}', which holds a report of commit {before['commit']}"
                       f"{' at toy size' if before['toy'] else ''}, and this is {commit}"
                       f"{' at toy size' if toy else ''}; expected another folder, or --again", 2)
        if same:
            self.state = before
        elif before:
            for room in ("logs", "results", "work"):  # of another commit
                shutil.rmtree(folder / room)
                (folder / room).mkdir()
        self.before = set() if again else {
            (name, part) for name, step in self.state["steps"].items()
            for part, entry in step["parts"].items() if entry["outcome"] in DONE}

    def read(self, path):
        try:
            state = json.loads(path.read_text())
            if state["format"] != FORMAT:
                raise ValueError(f"format is {state['format']}")
            for step in state["steps"].values():
                for part in step["parts"].values():
                    part["outcome"]
            return state if isinstance(state["toy"], bool) and state["commit"] else None
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError) as why:
            run.refuse(f"--out is '{self.folder}', whose report.json is no report of this script ({why}); "
                       "expected another folder", 2)

    def is_done(self, step, part):
        return (step.name, part.name) in self.before

    def outcome_of(self, step, part):
        return self.state["steps"][step.name]["parts"][part.name]["outcome"]

    def entry(self, step):
        entry = self.state["steps"].setdefault(step.name, {"parts": {}})
        entry["what"], entry["all"] = step.what, len(step.parts)
        return entry

    def note(self, step, part, outcome, why, ended=None, log=None):
        """Writes down how a part ended, and brings the report up to date."""
        entry = {"outcome": outcome, "why": self.private(why), "date": now()}
        if ended:
            entry |= {"status": ended.status, "seconds": round(ended.seconds, 2), "log": log.name,
                      "command": self.private(" ".join(map(str, part.command)))}
            if outcome != "passed":
                entry["end of log"] = self.private(end_of(log, 3000)).splitlines()[-20:]
        self.entry(step)["parts"][part.name] = entry
        if step.name == "train":
            entry["last"] = self.last_update(part.name)
        self.write()

    def leave_out(self, step):
        entry = self.entry(step)
        if not entry["parts"]:  # a run of before may have had what this one lacks
            entry["outcome"], entry["why"] = "skipped", step.why_not

    def last_update(self, position):
        try:
            lines = (self.folder / "work/train" / position / "log.jsonl").read_text().splitlines()
            validated = [json.loads(line) for line in lines if "validation_loss" in line]
            return {**(validated[-1] if validated else {}), **json.loads(lines[-1])}
        except (OSError, ValueError, IndexError):
            return {}

    def private(self, text):
        """The text without paths of this machine, its name and its user's."""
        for place in self.places:
            text = text.replace(place + "/", "").replace(place, ".")
        text = re.sub(r"(?<![\w./<])/(?:[\w.+@~-]+/)+([\w.+@~-]*)", r"\1", text)
        for name in names_of_people_and_machine():
            text = re.sub(rf"\b{re.escape(name)}\b", "(name)", text)
        return text

    def step(self, name):
        """Outcome, reason and parts of a step, whether it came up or not."""
        entry = self.state["steps"].get(name)
        if not entry:
            return "skipped", "not reached, or not among --steps", {}
        parts = entry["parts"]
        if not parts:
            return entry["outcome"], entry["why"], {}
        for worst in ("failed", "lacking", "unfinished"):
            for part in parts.values():
                if part["outcome"] == worst:
                    return worst, part["why"], parts
        passed = [part for part in set(parts) - {"build"} if parts[part]["outcome"] == "passed"]
        if len(passed) == entry["all"]:
            return "passed", "", parts
        why = next((part["why"] for part in parts.values() if part["why"]), "the script was ended")
        return "unfinished" if passed else "skipped", why, parts

    def status(self):
        outcomes = {self.step(name)[0] for name in self.names}
        return 1 if "failed" in outcomes else 3 if "lacking" in outcomes else 0

    def summary(self):
        steps = {name: self.step(name)[:2] for name in self.names}
        lines = [f"{name:16} {outcome}{': ' + why if why else ''}" for name, (outcome, why) in steps.items()]
        if any(part["outcome"] in ("unfinished", "skipped") for name in self.names
               for part in self.step(name)[2].values()):
            lines.append("The same command goes on with what is unfinished or was skipped for want of time.")
        return "\n".join(lines)

    def write(self, with_archive=False):
        self.state["updated"] = now()
        # Every step's outcome, for whoever reads the file: those that did not come up, too.
        outcomes = {name: self.step(name)[0] for name in self.names}
        state = {**self.state, "machine": self.facts(), "outcomes": outcomes}
        data = json.dumps(state, indent=1) + "\n"
        write_whole(self.folder / "report.json", data.encode())
        write_whole(self.folder / "report.md", self.markdown().encode())
        if with_archive:
            write_whole(self.folder / ARCHIVE, self.archive())

    def archive(self):
        files = [self.folder / "report.json", self.folder / "report.md",
                 *sorted((self.folder / "logs").glob("*.log")), *sorted((self.folder / "results").glob("*.*"))]
        for pattern in ("log.jsonl", "run.json", "*.svg"):
            files += sorted((self.folder / "work/train").glob(f"*/{pattern}"))
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=6) as tar:
            for path in files:
                data = self.private(end_of(path, MOST_OF_A_LOG if path.suffix == ".log" else 1 << 40)).encode()
                info = tarfile.TarInfo(f"plumbline-gpu-report/{path.relative_to(self.folder)}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        return buffer.getvalue()

    def markdown(self):
        facts = self.facts()
        gpus = facts.pop("gpus", [])
        toy = self.state["toy"]
        device = "the CPU emulation, at toy size" if toy else gpus[0].get("name", "a GPU") if gpus else "a GPU"
        lines = [f"# Plumbline on {device}", "",
                 f"Made by `./plumbline bench gpu`, begun {self.state['begun']}, up to date "
                 f"{self.state['updated']}, commit {self.state['commit']}."]
        if toy:
            lines += ["", "Toy sizes: the script works; no figure here says anything of a GPU."]
        lines += ["", "| step | | outcome | parts | seconds |", "|---|---|---|---|---|"]
        lines += [self.line(name) for name in self.names]
        lines += ["", "## The machine", "", "| | |", "|---|---|"]
        for number, gpu in enumerate(gpus):
            lines += [f"| GPU {number}: {field} | {value} |" for field, value in gpu.items()]
        lines += [f"| {field} | {value} |" for field, value in facts.items()]
        lines += self.verdicts()
        for name in self.names:
            lines += self.details(name)
        return "\n".join(lines) + "\n"

    def facts(self):
        try:
            return json.loads(self.private((self.folder / "logs/environment-facts.log").read_text()))
        except (OSError, ValueError):
            return {}

    def line(self, name):
        outcome, why, parts = self.step(name)
        own = {part: entry for part, entry in parts.items() if part != "build"}
        entry = self.state["steps"].get(name, {"what": "", "all": 0})
        passed = sum(part["outcome"] == "passed" for part in own.values())
        seconds = sum(part.get("seconds", 0) for part in own.values())
        figures = f"{passed} of {entry['all']} passed | {seconds:.0f}" if own else "- | -"
        return f"| {name} | {entry['what']} | {outcome}{': ' + why if why else ''} | {figures} |"

    def verdicts(self):
        """What the reports of verify come to, by kernel, pass and format."""
        table = {}
        for path in sorted((self.folder / "results").glob("verify-*.json")):
            for key, cases, worst, outcome in cells_of(path, path.stat().st_mtime_ns):
                row = table.setdefault(key, [0, 0.0, set()])
                row[0] += cases
                row[1] = max(row[1], worst)
                row[2].add(outcome)
        if not table:
            return []
        lines = ["", "## verify", "", "| kernel | pass | format | cases | worst error / bound | verdict |",
                 "|---|---|---|---|---|---|"]
        return lines + [f"| {' | '.join(key)} | {cases} | {worst:.3f} | {', '.join(sorted(outcomes))} |"
                        for key, (cases, worst, outcomes) in table.items()]

    def details(self, name):
        _, _, parts = self.step(name)
        if not parts:
            return []
        lines = ["", f"## {name}, by part", "", "| part | outcome | seconds | log |", "|---|---|---|---|"]
        for part, entry in parts.items():
            outcome = entry["outcome"] + (f": {entry['why']}" if entry["why"] else "")
            if entry.get("last"):
                outcome += "; " + ", ".join(f"{key} {value:.6g}" for key, value in entry["last"].items())
            lines.append(f"| {part} | {outcome} | {entry.get('seconds', '-')} | {entry.get('log', '-')} |")
        if name in TABLES:
            lines += ["", f"Its figures: `{TABLES[name]}`, and all of the log."]
        for part, entry in parts.items():
            if entry.get("end of log"):
                lines += ["", f"The end of `{entry['log']}`, of `{entry['command']}`:", "", "```",
                          *entry["end of log"], "```"]
        return lines
