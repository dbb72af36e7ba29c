#pragma once
/// Kernels of a few lines, run under several orders.

#include <algorithm>

#include <catch2/catch.hpp>

#include "drawloom/interp/simt/simt.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/ir/verify.h"

namespace drawloom {

inline auto parsed(const std::string& text) -> Program {
  auto programs = parse_programs(text, "kernel.ir").or_throw();
  for (const auto& d : verify(programs[0], 0)) FAIL(d.text());
  return programs[0];
}

/// A launch of `threads` threads in `blocks` blocks around `body`, over `%in` and `%out` of `type`, with `%bar`, four
/// mbarriers behind `shared` bytes for `%s`. `maps`: tensor maps, a line each.
struct Kernel {
  std::string body, type = "f32";
  int threads = 32, blocks = 1, shared = 1024;
  std::string attributes, maps, cluster;

  /// The number that a line of `body` has in the text.
  auto line(uint32_t of_body) const -> uint32_t {
    return of_body + 8 + static_cast<uint32_t>(std::count(maps.begin(), maps.end(), '\n'));
  }
  auto type_of() const -> Type { return type == "f32" ? float_type(32) : float_type(16); }
  auto text() const -> std::string {
    return str("drawloom-ir 1\n\nfunc @k(%in: buffer<{}, 1>, out %out: buffer<{}, 1>) {\n{}  launch \"k\"{} shared "
               "{}{} {\n    block for %b = 0 : {} {\n"
               "      thread for %t = 0 : {} {\n        allocate %s: {}[{}] shared at 0\n        allocate %bar: u64[4] "
               "shared at {}\n",
               type, type, maps, cluster, shared + 32, attributes, blocks, threads, type,
               shared / (type == "f32" ? 4 : 2), shared) +
           body + "\n      }\n    }\n  }\n}\n";
  }
};

struct Ran {
  SimReport report;
  Array out;
};

inline auto hashed_input(Type type, int64_t elements) -> Array {
  Array in = make_array(type, {{.extent = elements}});
  // Whole numbers: exact in every type used here.
  for (int64_t i = 0; i < elements; ++i) in.set({i}, float_value(type, static_cast<double>(i % 251 - 125)));
  return in;
}

inline auto run_kernel(const Kernel& k, const SimOptions& options = {}, int64_t in_size = 4096, int64_t out_size = 4096)
    -> Ran {
  const Program p = parsed(k.text());
  const Type type = k.type_of();
  Array in = hashed_input(type, in_size);
  Ran out{.report = {}, .out = make_array(type, {{.extent = out_size}})};
  out.report = simulate(p, {{.array = &in}, {.array = &out.out}}, options).or_throw();
  return out;
}

inline auto all_options() -> std::vector<SimOptions> {
  std::vector<SimOptions> all;
  for (const auto order : {WarpOrder::in_order, WarpOrder::random, WarpOrder::producer_first, WarpOrder::consumer_first,
                           WarpOrder::latest}) {
    for (const auto moment : {AsyncMoment::earliest, AsyncMoment::latest, AsyncMoment::random}) {
      all.push_back({.order = order, .moment = moment, .seed = 7});
    }
  }
  return all;
}

/// Clean under every order.
inline void keeps(const Kernel& k) {
  for (const auto& o : all_options()) {
    const auto r = run_kernel(k, o);
    for (const auto& e : r.report.errors) FAIL(e.text() << "\n" << k.text());
  }
}
/// Reported under every order, with the kind and the words, at line `line` of the body (1 is its first).
inline void breaks(const Kernel& k, DiagKind kind, const std::string& words, uint32_t line = 0) {
  for (const auto& o : all_options()) {
    const auto r = run_kernel(k, o);
    REQUIRE_FALSE(r.report.errors.empty());
    const auto& e = r.report.errors[0];
    INFO(e.text());
    CHECK(e.name() == diag_name(kind));
    CHECK(e.text().find(words) != std::string::npos);
    if (line != 0) CHECK(e.loc().line() == k.line(line));
  }
}
/// Reported under every order; which of several consequences is seen first depends on it.
inline void caught(const Kernel& k) {
  for (const auto& o : all_options()) CHECK_FALSE(run_kernel(k, o).report.clean());
}

}  // namespace drawloom
