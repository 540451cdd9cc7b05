# SPDX-License-Identifier: Apache-2.0
# usage: several_ranks.py MPIRUN PLUMBLINE EXAMPLE_IN_C TEST_KERNELS
# plumbline verify under mpirun: the reports of several ranks are those of one process, byte for
# byte but for the seconds, whichever rank has a failing case; what ends one rank ends all.
import os
import pathlib
import re
import subprocess
import sys
import tempfile

mpirun, program, example, test_kernels = sys.argv[1:]
# As root, and with more ranks than processors, Open MPI works only where it is told so; and a rank that waits
# leaves its processor to the others.
environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1",
                   OMPI_MCA_mpi_yield_when_idle="1")


def run(command):
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def expect(holds, what, *runs):
    if not holds:
        sys.exit(what + "".join(f"\nstatus {r.returncode}\n{r.stdout}\n{r.stderr}" for r in runs))


def reports(ranks, place, *options):
    """The run, what it printed and wrote, without the seconds."""
    folder = place / str(ranks)
    folder.mkdir()
    done = run((mpirun, "-n", str(ranks)) * (ranks > 0) + (
        program, "verify", *options, "--json", str(folder / "json"), "--junit",
        str(folder / "junit"), "--sarif", str(folder / "sarif"), "--html", str(folder / "html")))
    if not (folder / "json").exists():
        expect(False, f"{ranks} ranks", done)
    texts = [done.stdout] + [(folder / name).read_text()
                             for name in ("json", "junit", "sarif", "html/index.html")]
    return done, [re.sub(r'in [0-9.]+ s|"seconds": [0-9.e-]+|time="[0-9.e-]+"', "", text)
                  for text in texts]


def as_one_process(place, status, options, counts=(2, 3)):
    place.mkdir()
    alone, whole = reports(0, place, *options)
    expect(alone.returncode == status, "one process", alone)
    for ranks in counts:
        several, parts = reports(ranks, place, *options)
        expect(several.returncode == status, f"{ranks} ranks", several)
        for name, one, other in zip(("table", "json", "junit", "sarif", "html"), whole, parts):
            if one != other:
                sys.exit(f"{options}: {ranks} ranks have another {name}:\n{one}\n{other}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    cell = ("--pass", "forward", "--bias", "nope", "--dtype", "fp32")
    as_one_process(folder / "right", 0, ("--kernel", example, "--cases", "7"), (2,))
    as_one_process(folder / "shard", 0, ("--kernel", example, "--cases", "9", "--shard", "2/2"),
                   (2,))
    # The first failing case is one of the second, and of the third rank; and every case fails.
    as_one_process(folder / "wrong", 1, ("--kernel", test_kernels, *cell, "--cases", "30", "--seed",
                                         "27", "--kernels",
                                         "right,drops_the_last_key_from_many_on,gives_up"))
    # A kernel that fails where rank 0 does not see it.
    done = run([mpirun, "-n", "2", program, "verify", "--kernel", test_kernels, *cell, "--cases",
                "4", "--kernels", "right_on_rank_0"])
    words = ("the verdict of rank 1 was FAIL (the kernel returned 1: not here), that of rank 0, "
             "which ran the case again, was pass")
    expect(done.returncode == 1 and words in done.stdout, "a kernel that fails on rank 1", done)
    # What is wrong on one rank, or on all, is told once.
    for first, second, words in ((example, "none.so", 'plumbline: rank 1: --kernel is "none.so"'),
                                 ("none.so", "none.so", 'plumbline: --kernel is "none.so"')):
        done = run([mpirun, "-n", "1", program, "verify", "--kernel", first, "--cases", "4", ":",
                    "-n", "1", program, "verify", "--kernel", second, "--cases", "4"])
        expect(done.returncode == 2 and done.stderr.count("plumbline: ") == 1
               and words in done.stderr, "a library that is not there", done)
    done = run([mpirun, "-n", "1", program, "verify", "--kernel", example, "--cases", "4", ":",
                "-n", "1", program, "verify", "--kernel", test_kernels, *cell, "--kernels",
                "right"])
    expect(done.returncode == 3 and "rank 1: the kernels here offer other cases" in done.stderr,
           "two libraries", done)
