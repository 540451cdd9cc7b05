// SPDX-License-Identifier: Apache-2.0
// The parts of a cell that several processes have checked, as one process would have found it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "verdict/property/property.hpp"

namespace plumbline::verdict {

/// What was found of cells as bytes, for another process of the same program that checks the same
/// cells. Of a counterexample there are the spec, what it is called and the words of its failure:
/// the whole judgement, who runs the case again has it.
std::vector<std::byte> pack(const std::vector<CellResult>& cells);
/// Inverts it, as far as that goes.
std::vector<CellResult> unpack(std::span<const std::byte> bytes);

/// Adds what was found of other cases of the same cell: cases, rows and elements add up; of an
/// output the worst element is the worse one and of equal ones the first, as if the cases had been
/// checked one after the other. The counterexample is that of the first failing case, or of the
/// first undecided one.
void merge(CellResult& cell, const CellResult& part);

}  // namespace plumbline::verdict
