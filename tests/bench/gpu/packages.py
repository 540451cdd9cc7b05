# SPDX-License-Identifier: Apache-2.0
"""Debian packages for a machine without a network: downloaded on one (--pack), unpacked there (--bring)."""
import os
import pathlib
import re
import shutil
import subprocess

import run

# update-alternatives' links, which a package makes when it is installed and not when it is unpacked.
LINK = re.compile(r"--(?:install|slave)\s+(/\S+)\s+\S+\s+(/\S+)")


def output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, **more).stdout


def closure(names):
    """What apt-get would install for these names where nothing is."""
    said = output("apt-get", "-o", "Dir::State::status=/dev/null", "--no-install-recommends", "--simulate",
                  "install", *names)
    return {line.split()[1] for line in said.splitlines() if line.startswith("Inst ")}


def pack(folder, package_list):
    """Downloads the packages of a list, with all that they need and no Debian system has of itself."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        run.refuse(f"--pack is '{folder}', which is there already; expected a new or an empty folder", 2)
    if not shutil.which("apt-get") or not shutil.which("dpkg-query"):
        run.refuse("--pack needs apt-get and dpkg-query: call it on a Debian machine with a network", 3)
    partial = folder.with_name(folder.name + ".partial")
    try:
        names = re.sub("#.*", "", package_list.read_text()).split()
        # The required ones are on every Debian system, this one too.
        required = [words[-1] for words in map(str.split, output(
            "dpkg-query", "-W", "-f", "${Essential} ${Priority} ${Package}\n").splitlines())
            if words[0] == "yes" or "required" in words[:-1]]
        needed = sorted(closure(names) - closure(required))
        run.say(f"downloading {len(needed)} packages")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        output("apt-get", "download", *needed, cwd=partial)
    except OSError as why:
        run.refuse(f"--pack is '{folder}', where nothing can be written ({why.strerror})", 2)
    except subprocess.CalledProcessError as why:
        shutil.rmtree(partial, ignore_errors=True)
        run.refuse(f"apt-get cannot download the packages (try apt-get update): {why.stderr.strip()}", 3)
    if folder.exists():
        folder.rmdir()
    partial.rename(folder)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{folder}: {len(needed)} packages, {size / 1e6:.0f} MB; on the machine with the GPU:\n"
          f"  ./plumbline bench gpu --bring FOLDER")


def bring(folder):
    """Unpacks such a folder into / for good, but for what is installed there."""
    debs = sorted(folder.glob("*.deb"))
    if not debs:
        run.refuse(f"--bring is '{folder}'; expected a folder with *.deb, as --pack makes it", 2)
    for tool in ("dpkg-deb", "dpkg-query", "tar"):
        if not shutil.which(tool):
            run.refuse(f"--bring unpacks Debian packages, for which {tool} is missing here", 3)
    installed = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n"],
                               capture_output=True, text=True).stdout.splitlines()
    try:
        names = {deb: output("dpkg-deb", "-f", deb, "Package").strip() for deb in debs}
    except subprocess.CalledProcessError as why:
        run.refuse(f"--bring is '{folder}'; expected whole Debian packages there: {why.stderr.strip()}", 2)
    missing = {deb: name for deb, name in names.items() if f"installed {name}" not in installed}
    if not missing:
        return
    run.say(f"unpacking into /, without a change to any file that is there: {' '.join(missing.values())}")
    if os.getuid() != 0:
        run.refuse("--bring unpacks into /, which only root can; call it as root, or have these packages "
                   "installed", 3)
    try:
        unpack(missing, pathlib.Path("/"))
        subprocess.run(["ldconfig"], check=True)
    except (OSError, subprocess.CalledProcessError) as why:
        run.refuse(f"--bring could not unpack '{folder}': {why}", 3)


def unpack(debs, root):
    """Below the folder root. What `dpkg -x` would do, but for two things: a file that is there stays, as
    another system's libraries may be newer; and so does a link to a folder, such as /lib."""
    for deb in debs:
        data = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", root, "--skip-old-files", "--keep-directory-symlink"],
                       stdin=data.stdout, check=True)
        data.stdout.close()
        if data.wait() != 0:
            raise subprocess.CalledProcessError(data.returncode, data.args)
    for deb in debs:
        scripts = subprocess.run(["dpkg-deb", "-I", deb, "postinst"], capture_output=True, text=True)
        for link, target in LINK.findall(scripts.stdout):
            place = root / link[1:]
            if not os.path.lexists(place) and (root / target[1:]).exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(target)
