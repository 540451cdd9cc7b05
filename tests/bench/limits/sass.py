# SPDX-License-Identifier: Apache-2.0
"""Machine code as `nvdisasm -c` prints it: a kernel's instructions, basic blocks and loops."""
import re

LINE = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z]\w*(?:\.\w+)*)\s*(.*?)\s*;?\s*$")
LABEL = re.compile(r"(\S+):\s*$")
BRANCHES = re.compile(r"BRANCH_TARGETS ([^\s\"]+)")
TARGET = re.compile(r"`\(([^)]+)\)")


class Instruction:
    """`predicate` is "", "P0", "!UP1", ...; labels among the operands are addresses."""

    def __init__(self, address, predicate, name, operands):
        self.address, self.predicate, self.name, self.operands = address, predicate, name, operands
        self.opcode, *self.modifiers = name.split(".")
        self.branches = []

    def __str__(self):
        predicate = self.predicate and f"@{self.predicate} "
        return f"{self.address:#x} {predicate}{self.name} {', '.join(self.operands)}"

    @property
    def target(self):
        return int(self.operands[-1], 16)

    @property
    def jumps_always(self):
        """Whether the next instruction is never next."""
        if self.predicate or self.opcode not in ("BRA", "EXIT", "RET", "BRX", "BRXU"):
            return False
        return self.opcode != "BRA" or (len(self.operands) == 1 and "DIV" not in self.modifiers)


def split_operands(text):
    """At the commas that stand in no brackets; labels later."""
    operands, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += letter in "[(" or -(letter in ")]")
        if letter == "," and depth == 0:
            operands.append(text[begin:at].strip())
            begin = at + 1
    return operands + [text[begin:].strip()] if text else []


def parse(text):
    """The kernels of a disassembly, by their names in the object: lists of Instruction."""
    kernels, labels, current = {}, {}, None
    for line in text.splitlines():
        if line.startswith("\t.section\t") or line.startswith(".section"):
            current = None
            section = re.search(r"\.text\.([^,\s]+)", line)
            if section:
                current = kernels.setdefault(section[1], [])
                labels[section[1]] = {}
                places = labels[section[1]]
            continue
        if current is None:
            continue
        if label := LABEL.match(line):
            places[label[1]] = 16 * len(current)
        elif found := LINE.match(line):
            address, predicate, name, operands = found.groups()
            targets = BRANCHES.search(operands)  # of BRX
            operands = operands.split("(*")[0].strip()
            if name.startswith("CALL") and "`(.L_" in operands:
                name = "BRA"  # a jump, in fact: what it reaches never returns
            current.append(Instruction(int(address, 16), predicate or "", name, split_operands(operands)))
            if targets:
                current[-1].branches = [f"`({label})" for label in targets[1].split(",")]
            if current[-1].address != 16 * (len(current) - 1):
                raise ValueError(f"an instruction is missing before {current[-1]}")
    for name, instructions in kernels.items():
        def resolved(operand):
            return TARGET.sub(lambda label: f"{labels[name].get(label[1], 0):#x}", operand)
        for instruction in instructions:
            instruction.operands = list(map(resolved, instruction.operands))
            instruction.branches = [int(resolved(branch), 16) for branch in instruction.branches]
    return kernels


class Blocks:
    """Basic blocks of a kernel: bounds[n] = (first, end) among the instructions, successors[n], and the loops.
    A block also ends at a barrier of the block of threads. Calls are followed where they return to, and what they
    call is entered from nowhere."""

    def __init__(self, instructions):
        self.instructions = instructions
        leaders = {0}
        for n, i in enumerate(instructions):
            if i.opcode in ("BRA", "CALL") and i.operands[-1].startswith("0x"):
                leaders.add(i.target // 16)
            leaders.update(branch // 16 for branch in i.branches)
            if i.opcode in ("BRA", "BRX", "BRXU", "EXIT", "RET", "CALL", "BAR"):
                leaders.add(n + 1)
        starts = sorted(leader for leader in leaders if leader < len(instructions))
        self.bounds = list(zip(starts, starts[1:] + [len(instructions)]))
        self.of_address = {16 * start: n for n, start in enumerate(starts)}
        self.successors = [self.after(n) for n in range(len(starts))]

    def after(self, n):
        last = self.instructions[self.bounds[n][1] - 1]
        following = [] if last.jumps_always or n + 1 == len(self.bounds) else [n + 1]
        if last.opcode == "BRA" and last.target // 16 < len(self.instructions):
            following.append(self.of_address[last.target])
        return following + [self.of_address[branch] for branch in last.branches]

    def loops(self):
        """{first block: the blocks of the loop}: natural loops, by back edges to a dominator."""
        order, seen = [], set()
        called = [self.of_address[i.target] for i in self.instructions
                  if i.opcode == "CALL" and i.operands[-1].startswith("0x")]
        for root in [0, *called]:  # depth first, without recursion
            stack = [(root, iter(self.successors[root]))] if root not in seen else []
            seen.add(root)
            while stack:
                for following in stack[-1][1]:
                    if following not in seen:
                        seen.add(following)
                        stack.append((following, iter(self.successors[following])))
                        break
                else:
                    order.append(stack.pop()[0])
        order.reverse()
        position = {block: n for n, block in enumerate(order)}
        before = {block: [] for block in order}
        for block in order:
            for following in self.successors[block]:
                before[following].append(block)
        dominator = {block: None for block in order}  # the immediate one (Cooper, Harvey and Kennedy, 2001)
        changed = True
        while changed:
            changed = False
            for block in order:
                known = [b for b in before[block] if dominator[b] is not None or b in (0, *called)]
                if not known or block == 0 or block in called:
                    continue
                new = known[0]
                for other in known[1:]:
                    new = self.meet(new, other, dominator, position)
                if dominator[block] != new:
                    dominator[block], changed = new, True
        found = {}
        for block in order:
            for head in self.successors[block]:
                above = block
                while above is not None and above != head:
                    above = dominator[above]
                if above is not None:
                    body, todo = found.setdefault(head, {head}), [block]
                    while todo:
                        inside = todo.pop()
                        if inside not in body:
                            body.add(inside)
                            todo += before[inside]
        return found

    @staticmethod
    def meet(a, b, dominator, position):
        while a != b:
            if a is None or b is None:
                return None
            if position[a] > position[b]:
                a = dominator[a]
            else:
                b = dominator[b]
        return a
