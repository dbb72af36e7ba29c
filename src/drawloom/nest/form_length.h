#pragma once
/// How long forms have grown: what doubles a long one is left out, decided differently, or gets a name.

#include "drawloom/analysis/form.h"

namespace drawloom {

/// Terms of f, through the operands of its atoms; counting stops at `most`.
auto weight(const Form& f, int most) -> int;

/// Longer than what people write: bounds of bounds. Conditions of choices count too.
auto is_long(const Form& f) -> bool;

}  // namespace drawloom
