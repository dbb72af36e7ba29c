#pragma once
/// Runs IR text on the machine.

#include <catch2/catch.hpp>

#include "drawloom/interp/machine/machine.h"
#include "drawloom/ir/text_form.h"

namespace drawloom {

inline auto program_of(const std::string& text) -> Program {
  return parse_programs("drawloom-ir 1\n" + text, "test.ir").or_throw().at(0);
}

/// `arrays` are the buffer arguments in order; `scalars` the others.
inline auto run_text(const std::string& text, std::vector<Array*> arrays, const MachineOptions& options = {},
                     std::vector<Value> scalars = {}) -> MachineReport {
  const Program p = program_of(text);
  MachineArguments arguments;
  size_t array = 0, scalar = 0;
  for (const auto& a : p.arguments) {
    if (std::holds_alternative<BufferArgument>(a)) {
      arguments.push_back({.array = arrays.at(array++)});
    } else {
      arguments.push_back({.scalar = scalars.at(scalar++)});
    }
  }
  return run(p, arguments, options).or_throw();
}

/// `f(coords)` in every element of a dense array of i32.
template <typename F>
auto filled(std::vector<ArrayDim> dims, F&& f) -> Array {
  Array a = make_array(int_type(32), std::move(dims));
  if (is_empty_box(a.dims)) return a;
  auto p = first_point(a.dims);
  do a.set(p, int_value(int_type(32), f(p)));
  while (next_point(a.dims, p));
  return a;
}
inline auto row(int64_t extent) -> Array { return make_array(int_type(32), {{.min = 0, .extent = extent}}); }
inline auto ints(const Array& a) -> std::vector<int64_t> {
  std::vector<int64_t> out;
  if (is_empty_box(a.dims)) return out;
  auto p = first_point(a.dims);
  do out.push_back(a.at(p).i);
  while (next_point(a.dims, p));
  return out;
}

/// The text of the errors, one per line; empty when the run was clean.
inline auto errors_of(const MachineReport& r) -> std::string {
  std::string out;
  for (const auto& d : r.errors) out += d.text() + "\n";
  return out;
}
inline void check_one_error(const MachineReport& r, DiagKind kind, const std::string& message, uint32_t line) {
  INFO(errors_of(r));
  REQUIRE(r.errors.size() == 1);
  CHECK(r.errors[0].kind() == kind);
  CHECK(r.errors[0].message() == message);
  CHECK(r.errors[0].loc().line() == line);
}

}  // namespace drawloom
