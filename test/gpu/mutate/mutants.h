#pragma once
/// Programs with one mistake each.

#include <string>
#include <vector>

#include "drawloom/ir/program.h"

namespace drawloom::gpu_tests {

struct Mutant {
  /// `delete`, `swap` or what was changed; the statement's text; its number among statements of this text.
  std::string what, statement;
  int occurrence = 0;
  Loc loc;
  Program program;

  auto text() const -> std::string {
    return occurrence == 0 ? what + " " + statement : what + " " + statement + " #" + std::to_string(occurrence + 1);
  }
};

/// Each synchronising statement of the launches (Sync, Fence, Init, Arrive, Expect, Wait, Commit, WaitGroup, SetRegisters)
/// deleted; each of their counts, byte numbers and parities one unit off, up and down; each pair of neighbours swapped,
/// where both synchronise and do nothing else.
auto mutants_of(const Program& program) -> std::vector<Mutant>;

}  // namespace drawloom::gpu_tests
