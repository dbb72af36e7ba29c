/// Each kind of error: a program that has it, and the one beside it that has not.

#include "run_text.h"

using namespace drawloom;

TEST_CASE("loading what was never written is an error once it is used", "[machine]") {
  const auto text = [](const char* extent) {
    return str(R"(func @p(out %o: buffer<i32, 1>) {
  allocate %t: i32[4] heap
  stage "t" {
    for %x = 0 : {} {{
      store %t[%x] = 7:i32
    }}
  }
  stage "o" {
    for %x = 0 : 4 {
      store %o[%x] = %t[%x]
    }
  }
})",
               extent);
  };
  auto o = row(4);
  check_one_error(run_text(text("3"), {&o}), DiagKind::machine_unwritten,
                  "o (x = 3) reads `t`(3), which was never written, and uses it in `o`(3)", 11);
  CHECK(errors_of(run_text(text("4"), {&o})).empty());
  CHECK(ints(o) == std::vector<int64_t>{7, 7, 7, 7});
}

TEST_CASE("an element of other coordinates is found by its origin", "[machine]") {
  // t keeps `depth` elements of a slide; the reader wants x and x + 1
  const auto text = [](int depth) {
    return str(R"(func @p(out %o: buffer<i32, 1>) {
  allocate %t: i32[{0}] heap
  stage "t" {
    store %t[0; origin 0] = 10:i32
  }
  for %x = 0 : 5 {
    stage "t" {
      store %t[(%x + 1) % {0}; origin %x + 1] = 11:i32 + cast<i32>(%x)
    }
    stage "o" {
      store %o[%x; origin %x] = %t[%x % {0}; origin %x] + %t[(%x + 1) % {0}; origin %x + 1]
    }
  }
})",
               depth);
  };
  auto o = row(5);
  MachineOptions options{.pass = "fold_storage"};
  const auto bad = run_text(text(1), {&o}, options);
  check_one_error(bad, DiagKind::machine_wrong_element,
                  "o (x = 0) reads `t`(0), finds (1) in its place, and uses it in `o`(0)", 12);
  CHECK(bad.errors[0].text().find("in the program after fold_storage") != std::string::npos);
  CHECK(errors_of(run_text(text(2), {&o}, options)).empty());
  CHECK(ints(o) == std::vector<int64_t>{21, 23, 25, 27, 29});
}

TEST_CASE("out of bounds", "[machine]") {
  auto in = filled({{.min = 2, .extent = 4}}, [](auto& p) { return p[0]; });
  auto o = row(4);
  const auto text = [](const char* shift) {
    return str(
        "func @p(%in: buffer<i32, 1>, out %o: buffer<i32, 1>) {\nfor %x = 0 : 4 {{\nstore %o[%x] = %in[%x + {}]\n}}\n}",
        shift);
  };
  check_one_error(run_text(text("1"), {&in, &o}), DiagKind::machine_out_of_bounds,
                  "p (x = 0) reads `in`(1), outside [2, 5]", 4);
  CHECK(errors_of(run_text(text("2"), {&in, &o})).empty());
  CHECK(ints(o) == std::vector<int64_t>{2, 3, 4, 5});

  const auto store = "func @p(out %o: buffer<i32, 1>) {\nstore %o[4] = 1:i32\n}";
  check_one_error(run_text(store, {&o}), DiagKind::machine_out_of_bounds, "p writes `o`(4), outside [0, 3]", 3);
}

TEST_CASE("only lanes under the mask must be in bounds", "[machine]") {
  auto in = filled({{.min = 0, .extent = 6}}, [](auto& p) { return p[0] * p[0]; });
  auto o = row(6);
  const auto text = [](const char* mask) {
    return str(R"(func @p(%in: buffer<i32, 1>, out %o: buffer<i32, 1>) {
  let %m = ramp(4, 1, 4) < broadcast(6, 4)
  store %o[ramp(0, 1, 4)] = %in[ramp(0, 1, 4)]
  store %o[ramp(4, 1, 4); mask %m] = %in[ramp(4, 1, 4){}]
})",
               mask);
  };
  CHECK(errors_of(run_text(text("; mask %m"), {&in, &o})).empty());
  CHECK(ints(o) == std::vector<int64_t>{0, 1, 4, 9, 16, 25});
  check_one_error(run_text(text(""), {&in, &o}), DiagKind::machine_out_of_bounds, "p reads `in`(6), outside [0, 5]", 5);
}

TEST_CASE("flat subscripts see the gaps between rows", "[machine]") {
  auto in =
      make_strided_array(int_type(32), {{.min = 0, .extent = 3, .stride = 1}, {.min = 5, .extent = 2, .stride = 4}});
  auto o = row(8);
  const auto text = [](const char* position) {
    return str("func @p(%in: buffer<i32, 2>, out %o: buffer<i32, 1>) flat_storage {{\nstore %o[0] = %in[{}]\n}}",
               position);
  };
  CHECK(errors_of(run_text(text("6"), {&in, &o})).empty());
  check_one_error(run_text(text("3"), {&in, &o}), DiagKind::machine_out_of_bounds, "p reads `in`(3), outside [0, 6]",
                  3);
  check_one_error(run_text(text("7"), {&in, &o}), DiagKind::machine_out_of_bounds, "p reads `in`(7), outside [0, 6]",
                  3);
}

TEST_CASE("a lane that its mask left unread means nothing", "[machine]") {
  auto in = filled({{.min = 0, .extent = 4}}, [](auto& p) { return p[0] + 1; });
  auto o = row(8);
  const auto text = [](const char* value, const char* mask) {
    return str(R"(func @p(%in: buffer<i32, 1>, out %o: buffer<i32, 1>) {
  let %m = ramp(0, 1, 8) < broadcast(4, 8)
  let %v = %in[ramp(0, 1, 8); mask %m]
  stage "o" {
    store %o[ramp(0, 1, 8){1}] = {0}
  }
})",
               value, mask);
  };
  const char* message = "o uses in `o`(4) a lane of `in` that its mask left unread";
  check_one_error(run_text(text("%v * broadcast(2:i32, 8)", ""), {&in, &o}), DiagKind::machine_garbage_used, message,
                  6);
  CHECK(errors_of(run_text(text("%v", "; mask %m"), {&in, &o})).empty());
  // A selection that does not depend on the garbage may drop it.
  CHECK(errors_of(run_text(text("select(%m, %v, broadcast(0:i32, 8))", ""), {&in, &o})).empty());
  CHECK(ints(o) == std::vector<int64_t>{1, 2, 3, 4, 0, 0, 0, 0});
  check_one_error(run_text(text("select(!%m, %v, broadcast(0:i32, 8))", ""), {&in, &o}), DiagKind::machine_garbage_used,
                  message, 6);
  // `false && garbage` is false, so such a mask is none of garbage.
  CHECK(errors_of(run_text(text("%v", "; mask %m && %v > broadcast(2:i32, 8)"), {&in, &o})).empty());
  check_one_error(run_text(text("broadcast(1:i32, 8)", "; mask %v > broadcast(2:i32, 8)"), {&in, &o}),
                  DiagKind::machine_garbage_used, "o uses in a mask a lane of `in` that its mask left unread", 6);
}

TEST_CASE("garbage may rest in storage of ours, and is found where it decides", "[machine]") {
  auto in = filled({{.min = 0, .extent = 4}}, [](auto& p) { return p[0] + 1; });
  auto o = row(8);
  const auto text = [](const char* use) {
    return str(R"(func @p(%in: buffer<i32, 1>, out %o: buffer<i32, 1>) {
  allocate %t: i32[8] stack
  store %t[ramp(0, 1, 8)] = %in[ramp(0, 1, 8); mask ramp(0, 1, 8) < broadcast(4, 8)]
  {}
})",
               use);
  };
  CHECK(errors_of(run_text(text("store %o[0] = %t[3]"), {&in, &o})).empty());
  const std::pair<const char*, const char*> uses[] = {
      {"store %o[0] = %t[4]", "`o`(0)"},
      {"store %o[cast<index>(%t[4])] = 1:i32", "a subscript"},
      {"store %o[0] = %in[cast<index>(%t[4])]", "a subscript"},
      {"if %t[4] > 0:i32 {\nstore %o[0] = 1:i32\n}", "a condition"},
      {"for %x = 0 : cast<index>(%t[4]) {\nstore %o[0] = 1:i32\n}", "a loop bound"},
      {"allocate %u: i32[cast<index>(%t[4])] heap\nstore %o[0] = 1:i32", "the size of an allocation"},
      {"check %t[4] == 0:i32 \"bad\" \"no\"", "a check"},
  };
  for (const auto& [use, what] : uses) {
    INFO(use);
    const auto r = run_text(text(use), {&in, &o});
    INFO(errors_of(r));
    REQUIRE(r.errors.size() == 1);
    CHECK(r.errors[0].kind() == DiagKind::machine_garbage_used);
    CHECK(r.errors[0].args()[1] == std::string("in ") + what);
  }
}

TEST_CASE("garbage lanes of a rounded tail are errors at the load only on request", "[machine]") {
  // Stage t is computed for all 4 of its lanes from the 3 elements of s that are needed.
  const char* text = R"(func @p(out %o: buffer<i32, 1>) {
  allocate %s: i32[4] heap
  allocate %t: i32[4] heap
  for %x = 0 : 3 {
    store %s[%x; origin %x] = 5:i32
  }
  store %t[ramp(0, 1, 4); origin ramp(0, 1, 4)] = %s[ramp(0, 1, 4); origin ramp(0, 1, 4)]
  for %x = 0 : 3 {
    store %o[%x; origin %x] = %t[%x; origin %x]
  }
})";
  auto o = row(3);
  CHECK(errors_of(run_text(text, {&o})).empty());
  check_one_error(run_text(text, {&o}, {.error_at_load = true}), DiagKind::machine_unwritten,
                  "p reads `s`(3), which was never written, and uses it at once", 8);
}

TEST_CASE("parallel iterations that touch one element race", "[machine]") {
  auto o = row(4);
  const auto text = [](const char* kind, const char* body) {
    return str(R"(func @p(out %o: buffer<i32, 1>) {
  allocate %t: i32[8] heap
  for %x = 0 : 8 {
    store %t[%x] = 0:i32
  }
  {} for %y = 0 : 4 {
    stage "o" {
      {}
    }
  }
})",
               kind, body);
  };
  const char* own = "store %t[%y] = 1:i32\nstore %o[%y] = %t[%y] + %t[%y + 4]";
  const char* neighbour = "store %t[%y] = 1:i32\nstore %o[%y] = %t[%y + 1]";
  const char* behind = "store %o[%y] = %t[%y + 1]\nstore %t[%y + 2] = 1:i32";
  const char* one = "store %t[4] = 1:i32\nstore %o[%y] = 1:i32";
  CHECK(errors_of(run_text(text("parallel", own), {&o})).empty());
  for (const char* body : {neighbour, behind, one}) {
    INFO(body);
    CHECK(errors_of(run_text(text("", body), {&o})).empty());
    for (const uint64_t seed : {0, 1, 2}) {
      const auto r = run_text(text("parallel", body), {&o}, {.parallel_seed = seed});
      CHECK_FALSE(r.errors.empty());
      for (const auto& d : r.errors) CHECK(d.kind() == DiagKind::machine_race);
    }
  }
  check_one_error(run_text(text("parallel", one), {&o}), DiagKind::machine_race,
                  "o (y = 1) writes `t`(4), which another iteration of the same parallel loop reads or writes", 9);
  check_one_error(run_text(text("parallel", neighbour), {&o}), DiagKind::machine_race,
                  "o (y = 1) writes `t`(1), which another iteration of the same parallel loop reads or writes", 9);
}

TEST_CASE("inputs are not written", "[machine]") {
  auto in = row(2), o = row(2);
  const char* text = "func @p(%in: buffer<i32, 1>, out %o: buffer<i32, 1>) {\nstore %in[0] = 1:i32\n}";
  check_one_error(run_text(text, {&in, &o}), DiagKind::machine_store_to_input, "p writes to the input `in`", 3);
}

TEST_CASE("outputs are not read before they are written", "[machine]") {
  auto o = row(2);
  const char* text = "func @p(out %o: buffer<i32, 1>) {\nstore %o[0] = 1:i32\nstore %o[1] = %o[{}]\n}";
  CHECK(errors_of(run_text(str(text, 0), {&o})).empty());
  check_one_error(run_text(str(text, 1), {&o}), DiagKind::machine_unwritten,
                  "p reads `o`(1), which was never written, and uses it in `o`(1)", 4);
}

TEST_CASE("a runaway program stops", "[machine]") {
  auto o = row(1);
  const char* text = "func @p(out %o: buffer<i32, 1>) {\nfor %x = 0 : 1000000000000 {\nstore %o[0] = 1:i32\n}\n}";
  const auto r = run_text(text, {&o}, {.max_steps = 1000});
  REQUIRE(r.errors.size() == 1);
  CHECK(r.errors[0].kind() == DiagKind::machine_budget);
  CHECK(r.steps < 1100);
}

TEST_CASE("one access tells one kind once, and the run ends after enough errors", "[machine]") {
  auto o = row(1);
  const char* text = R"(func @p(out %o: buffer<i32, 1>) {
  allocate %t: i32[4] heap
  for %x = 0 : 100 {
    store %o[0] = %t[%x % 4]
  }
  store %o[9] = 1:i32
  store %o[8] = 1:i32
})";
  CHECK(run_text(text, {&o}).errors.size() == 3);
  CHECK(run_text(text, {&o}, {.max_errors = 2}).errors.size() == 2);
}

TEST_CASE("arguments that do not fit the program are refused", "[machine]") {
  const Program p = program_of("func @p(%n: i32, out %o: buffer<i32, 2>) {\nstore %o[0, 0] = %n\n}");
  auto good = make_array(int_type(32), {{.min = 0, .extent = 1}, {.min = 0, .extent = 1}});
  auto wrong_rank = row(1);
  auto wrong_type = make_array(float_type(32), good.dims);
  const MachineArgument n{.scalar = int_value(int_type(32), 3)};
  CHECK(run(p, {n, {.array = &good}}).ok());
  CHECK(good.at({0, 0}).i == 3);
  const std::pair<MachineArguments, const char*> bad[] = {
      {{n}, "argument list of p: 1 given, 2 wanted"},
      {{n, {}}, "argument o of p: no array"},
      {{n, {.array = &wrong_rank}}, "argument o of p: rank 1, not 2"},
      {{n, {.array = &wrong_type}}, "argument o of p: elements are f32, not i32"},
      {{{.scalar = int_value(kIndex, 3)}, {.array = &good}}, "argument n of p: a index, not i32"},
  };
  for (const auto& [arguments, message] : bad) {
    const auto r = run(p, arguments);
    REQUIRE_FALSE(r.ok());
    CHECK(r.diag().kind() == DiagKind::machine_argument);
    CHECK(r.diag().message() == message);
  }
}
