// Every row of every rule table, on random and edge values of every type it claims.

#include <catch2/catch.hpp>

#include <array>

#include "data_reference.h"
#include "drawloom/analysis/rules.h"
#include "drawloom/ir/text_form.h"

using namespace drawloom;
using namespace drawloom::testing;

namespace {

const std::vector<Type> kTypes = {kIndex,       int_type(8),    int_type(16),  int_type(32),
                                  int_type(64), uint_type(8),   uint_type(32), uint_type(64),
                                  kBool,        float_type(32), float_type(64)};

struct Trial {
  Bindings b;
  DataPoint at;
};

/// The least and the greatest value.
auto ends_of(Type t) -> std::array<__int128, 2> {
  if (t.is_uint()) return {0, power_of_two(t.bits) - 1};
  return {-power_of_two(t.bits - 1), power_of_two(t.bits - 1) - 1};
}

/// A value for each wildcard of the row.
auto fill(const Rule& rule, Type t, int lanes, CounterRandom& random) -> Trial {
  Trial trial;
  trial.b.type = t;
  trial.b.lanes = lanes;
  const bool vectors = rules::has_vectors(rule);
  const auto visit = [&](auto& self, const Expr& e) -> void {
    if (const auto* var = e.as<VarRef>()) {
      const Wildcard w = wildcard_of(*var->symbol);
      Expr& slot = trial.b.bound[static_cast<int>(w)];
      if (slot) return;
      const Type type = rules::actual_type(e.type(), trial.b, vectors);
      if (is_constant_wildcard(w)) {
        Lane v = interesting(random, type);
        if (type.is_index() || random.chance(30)) v.i = wrapped(type, random.uniform(-4, 16));
        if (type.is_data_int() && random.chance(15)) v.i = ends_of(type)[random.uniform(0, 1)];
        if (type.is_float()) v.f = std::ldexp(1.0, static_cast<int>(random.uniform(-12, 12)));
        slot = constant_of(type, v);
      } else {
        const SymbolRef s = make_symbol(SymbolKind::Let, var->symbol->name, type);
        trial.at[s.get()] = interesting_lanes(random, type);
        slot = var_ref(s);
      }
    }
    for (const auto& o : rules::operands_of(e)) self(self, o);
  };
  visit(visit, rule.left);
  return trial;
}

const auto kAsIs = [](const Expr& e) { return e; };

/// Tries one rule for one type; how many trials applied.
auto try_rule(const Rule& rule, Type t, int lanes) -> int {
  CounterRandom random(hash_combine(
      hash_text(rule.name), hash_combine(static_cast<uint64_t>(t.code), static_cast<uint64_t>(t.bits * 8 + lanes))));
  int applied = 0;
  for (int k = 0; k < 400 && applied < 25; ++k) {
    const Trial trial = fill(rule, t, lanes, random);
    if (rule.guard && !rule.guard(constants_of(trial.b))) continue;
    const Expr left = instantiate(rule, rule.left, trial.b, kAsIs),
               right = instantiate(rule, rule.right, trial.b, kAsIs);
    if (!right) continue;
    DataReference reference{trial.at};
    const Lanes want = reference.value(left), got = reference.value(right);
    if (reference.open && rule.name != std::string_view("min_self_float") &&
        rule.name != std::string_view("max_self_float"))
      continue;
    ++applied;
    Bindings found;
    const bool matches = match(rule, left, found);
    const bool holds = right.type() == left.type() && same_bits(left.type(), want, got);
    const Expr simple = simplify(left);
    const bool kept = same_bits(left.type(), want, reference.value(simple));
    if (!matches || !holds || !kept || operation_count(right) > operation_count(left)) {
      UNSCOPED_INFO(rule.name << " for " << t.text() << "\n  " << print(left) << "\n  " << print(right) << "\n  "
                              << print(simple));
      for (const auto& [s, v] : trial.at)
        UNSCOPED_INFO(s->name << " = " << static_cast<int64_t>(v[0].i) << " " << v[0].f);
    }
    REQUIRE(matches);
    REQUIRE(holds);
    REQUIRE(kept);
    REQUIRE(operation_count(right) <= operation_count(left));
  }
  return applied;
}

}  // namespace

TEST_CASE("every rule holds for every type it claims", "[rules]") {
  for (const Rule* rule : all_rules()) {
    const bool vectors = rules::has_vectors(*rule);
    for (const Type t : kTypes) {
      if (!in_set(rule->types, t)) continue;
      for (const int lanes : {1, 4}) {
        if (vectors && lanes == 1) continue;
        INFO(rule->name << " " << t.text() << " x" << lanes);
        CHECK(try_rule(*rule, t, lanes) > 0);
      }
    }
  }
}

TEST_CASE("rules have names of their own", "[rules]") {
  std::map<std::string_view, int> names;
  for (const Rule* rule : all_rules()) CHECK(++names[rule->name] == 1);
  CHECK(names.size() > 150);
}

TEST_CASE("a rule that is wrong would be found", "[rules]") {
  // x/2*2 = x for no integer type; the check above has to see it.
  const Rule* div_div = nullptr;
  for (const Rule* rule : all_rules()) {
    if (rule->name == std::string_view("add_zero")) div_div = rule;
  }
  REQUIRE(div_div);
  const Expr x = div_div->right;
  const Expr two = int_imm(int_type(32), 2);
  const Rule wrong{"wrong", kSigned, binary(BinaryOp::Mul, binary(BinaryOp::Div, x, two), two), x};
  bool caught = false;
  CounterRandom random(1);
  for (int k = 0; k < 100; ++k) {
    const Trial trial = fill(wrong, int_type(32), 1, random);
    DataReference reference{trial.at};
    const Expr left = instantiate(wrong, wrong.left, trial.b, kAsIs);
    caught = caught || !same_bits(left.type(), reference.value(left),
                                  reference.value(instantiate(wrong, wrong.right, trial.b, kAsIs)));
  }
  CHECK(caught);
}
