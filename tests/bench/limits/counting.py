# SPDX-License-Identifier: Apache-2.0
"""The hot loop of a kernel, and what one of its iterations issues.

The hot loop is the smallest one that holds nine tenths of the tensor-core instructions that a block of threads
executes, or without those of the fused multiply-adds in fp32. Where some warps bring tiles by TMA for others, theirs
is a second one, the smallest with nine tenths of the copies, and both count. An iteration begins where its first
block does. Of a block's iterations those count that are most frequent by the number of instructions: interior tiles,
where boundary tiles, the first and the last one are fewer. A warp issues an instruction as often as that of its lanes
which executes it most often; where lanes diverge in turn it may issue more."""
import collections

import machine

WARP = 32


class NoLoop(Exception):
    """A kernel in which nothing repeats."""


def hot_loop(blocks, traces, opcodes):
    """Number of the first block of the smallest loop that holds nine tenths of what was executed of the first of these
    opcodes of which anything was; None where nothing was."""
    visits = collections.Counter(n for trace in traces for n in trace if n >= 0)
    for opcode in opcodes:
        weights = {n: times * sum(i.opcode == opcode for i in blocks.instructions[slice(*blocks.bounds[n])])
                   for n, times in visits.items()}
        if total := sum(weights.values()):
            break
    else:
        return None
    enough = [(len(body), head) for head, body in blocks.loops().items()
              if sum(weights.get(n, 0) for n in body) >= 0.9 * total]
    if enough:
        return min(enough)[1]
    # A loop that is entered in the middle has no first block; any that every iteration visits will do.
    visited = max(weights, key=weights.get)
    if all(trace.count(visited) < 2 for trace in traces):
        raise NoLoop(f"no loop has nine tenths of {opcode}")
    return visited


def iterations(trace, head):
    """The parts of a trace from one visit of `head` to the next; what follows the last one is part of it."""
    begins = [at for at, n in enumerate(trace) if n == head]
    return [trace[begin:end] for begin, end in zip(begins, begins[1:] + [len(trace)])]


def issued(blocks, lanes):
    """(Counter of instructions that a warp issues, Counter of those whose predicate held for a lane)."""
    most, executed = collections.Counter(), collections.Counter()
    for lane in lanes:
        visits = collections.Counter(n for n in lane if n >= 0)
        off = collections.Counter(~n for n in lane if n < 0)
        for block, times in visits.items():
            for n in range(*blocks.bounds[block]):
                most[n] = max(most[n], times)
                executed[n] = max(executed[n], times - off[n])
    return most, executed


def work_of_block(blocks, traces):
    """(the most frequent iteration's work, summed over the warps: {"issue": instructions, pipe: units of its rate},
    and how often each number of instructions came)."""
    head = hot_loop(blocks, traces, ["HMMA", "HGMMA", "QGMMA", "FFMA"])
    if head is None:
        raise NoLoop("no tensor-core instruction and no multiply-add was executed")
    work, often = work_of_loop(blocks, traces, head)
    of_copies = hot_loop(blocks, traces, ["UTMALDG"])
    if of_copies is not None:
        work += work_of_loop(blocks, traces, of_copies)[0]
    return work, often


def work_of_loop(blocks, traces, head):
    """The same of one loop, by its first block."""
    parts = [iterations(trace, head) for trace in traces]
    warps = [parts[first:first + WARP] for first in range(0, len(parts), WARP)]
    found = []
    for number in range(max(map(len, parts)) - 1):  # the last one has the kernel's end in it
        work = collections.Counter()
        for warp in warps:
            lanes = [lane[number] for lane in warp if number < len(lane)]
            # Alike lanes need to be looked at once.
            most, executed = issued(blocks, {tuple(lane) for lane in lanes})
            work["issue"] += sum(most.values())
            for n, times in executed.items():
                if not times:
                    continue
                for pipe, amount in machine.amounts(blocks.instructions[n]).items():
                    work[pipe] += times * amount
        found.append(work)
    if not found:
        raise NoLoop("the hot loop has one iteration")
    often = collections.Counter(work["issue"] for work in found)
    chosen = max(often, key=lambda count: (often[count], -count))
    return next(work for work in found if work["issue"] == chosen), dict(often)
