#pragma once
/// Faults planted to prove that tests find faults. `DRAWLOOM_FAULT(name)` is the constant false, unless this file is compiled
/// with DRAWLOOM_PLANT_FAULTS: then it is true for the one fault that a test has chosen. Rows: faults.def.

#ifdef DRAWLOOM_PLANT_FAULTS

namespace drawloom {

enum class Fault {
  none,
#define FAULT(name, layer, words) name,
#include "drawloom/support/faults.def"
#undef FAULT
};
/// Set by the test program that defines it, between cases.
extern Fault planted_fault;
/// `apply` accepts what its legality checks refuse: to show that what they refuse is wrong.
extern bool legality_skipped;

}  // namespace drawloom

#define DRAWLOOM_FAULT(name) (::drawloom::planted_fault == ::drawloom::Fault::name)
#define DRAWLOOM_LEGALITY_SKIPPED (::drawloom::legality_skipped)

#else

#define DRAWLOOM_FAULT(name) false
#define DRAWLOOM_LEGALITY_SKIPPED false

#endif
