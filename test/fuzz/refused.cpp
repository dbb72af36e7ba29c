#include "refused.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "drawloom/support/fault.h"
#include "drawloom/support/hash.h"
#include "random_schedule.h"
#include "sandbox.h"

// A refusal is right when the step makes a wrong program: a judge sees another result or an error of the machine, lowering or the
// verifier refuses the nest, or the nest has no answer to a query. Where all sizes that are tried give right results, the check
// may be stricter than it must be.

namespace drawloom::fuzz {
namespace {

constexpr int kSizes = 3;          ///< sizes tried for one step
constexpr size_t kPerCase = 2;     ///< steps taken from one random schedule
constexpr uint64_t kPerKind = 40;  ///< steps taken of one diagnostic

/// Refusals that say that two decisions do not fit together; the others are about names, kinds of things, or limits.
auto is_legality(DiagKind k) -> bool {
  static const DiagKind kKinds[] = {DiagKind::split_tail,
                                    DiagKind::fuse_uneven,
                                    DiagKind::reorder_reduction,
                                    DiagKind::vectorize_extent_unknown,
                                    DiagKind::vectorize_reduction,
                                    DiagKind::vectorize_guests,
                                    DiagKind::vectorize_nested,
                                    DiagKind::parallel_race,
                                    DiagKind::parallel_inside_vector,
                                    DiagKind::placement_not_enclosing,
                                    DiagKind::inline_with_updates,
                                    DiagKind::store_inside_compute,
                                    DiagKind::store_parallel_between,
                                    DiagKind::store_extent_unknown,
                                    DiagKind::fold_without_slide,
                                    DiagKind::fold_too_shallow,
                                    DiagKind::bound_not_implied,
                                    DiagKind::nontemporal_reread};
  return std::find(std::begin(kKinds), std::end(kKinds), k) != std::end(kKinds);
}

struct Judgement {
  enum What : uint8_t { wrong, strict, unusable } what = unusable;
  std::string how;
};

auto short_kind(const std::string& kind) -> std::string {
  const auto colon = kind.find(": ", kind.find(": ") == std::string::npos ? 0 : kind.find(": ") + 2);
  return kind.substr(0, std::min<size_t>(colon == std::string::npos ? 48 : colon, 48));
}

class Judge {
 public:
  explicit Judge(const Options& o) : options_(o) { check_.native = false; }

  auto judge(const Case& whole, const RefusedStep& step) -> Judgement {
    Case base = whole;
    base.schedule = step.before;
    base.schedule.pipeline = whole.pipeline->name;
    base.nest.reset();
    Case forced = base;
    forced.schedule.steps.push_back(step.line);
    const auto broke = force(forced);
    if (!broke.empty()) return {broke == "refused" ? Judgement::unusable : Judgement::wrong, broke};
    Judgement out;
    for (int i = 0; i < kSizes && out.what != Judgement::wrong; ++i) {
      if (i > 0)
        forced.sizes = base.sizes = sizes_of(hash_combine(whole.seed, static_cast<uint64_t>(i)), *whole.pipeline);
      try_sizes(base, forced, out);
    }
    return out;
  }

 private:
  void try_sizes(const Case& base, const Case& forced, Judgement& out) {
    legality_skipped = false;
    if (check_isolated(base, check_).outcome != Outcome::passed) return;
    legality_skipped = true;
    auto v = check_isolated(forced, check_);
    if (v.outcome == Outcome::passed) {
      CaseOptions native = check_;
      native.native = true;
      v = check_isolated(forced, native);
    }
    legality_skipped = false;
    if (v.outcome == Outcome::failed) out = {Judgement::wrong, short_kind(v.kind)};
    if (v.outcome == Outcome::passed) out = {Judgement::strict, "right results"};
  }

  /// Applies the last step without its checks; words when that breaks.
  static auto force(Case& c) -> std::string {
    const auto start = make_nest(c.pipeline, host_target());
    if (!start.ok()) return "refused";
    Schedule before = c.schedule;
    before.steps.pop_back();
    legality_skipped = true;
    std::string words;
    try {
      legality_skipped = false;
      const auto nest = replay(*start, before).nest;
      legality_skipped = true;
      const auto next = apply(nest, c.schedule.steps.back());
      if (next.ok())
        c.nest = *next;
      else
        words = "refused";
    } catch (const std::exception& e) {
      words = "the nest breaks";
    } catch (const ScheduleBroke&) {
      words = "refused";
    }
    legality_skipped = false;
    return words;
  }

  const Options& options_;
  CaseOptions check_;
};

struct Tally {
  uint64_t wrong = 0, strict = 0;
  std::map<std::string, uint64_t> how;
  std::string example;
};

class Collection {
 public:
  explicit Collection(const Options& o) : options_(o), judge_(o) {}

  auto run() -> int {
    for (uint64_t i = 0; judged_ < options_.refused && i < options_.cases * 10; ++i)
      one_case(hash_combine(options_.seed, i));
    print();
    return judged_ >= options_.refused ? 0 : 1;
  }

 private:
  void one_case(uint64_t seed) {
    std::vector<RefusedStep> refused;
    const Case c = make_case(seed, {nullptr, &refused});
    size_t taken = 0;
    for (const auto& step : refused) {
      if (taken == kPerCase || judged_ == options_.refused || !is_legality(step.kind)) continue;
      auto& t = tallies_[step.kind];
      if (t.wrong + t.strict >= kPerKind || is_filled(step)) continue;
      const auto j = judge_.judge(c, step);
      if (options_.print_case) tell(seed, step, j);
      if (j.what == Judgement::unusable) continue;
      ++taken, ++judged_;
      ++(j.what == Judgement::wrong ? t.wrong : t.strict);
      ++t.how[j.how];
      if (j.what == Judgement::strict && t.example.empty())
        t.example = str("{} after {} steps, case {}", drawloom::print(step.line.step), step.before.steps.size(), seed);
    }
  }

  static void tell(uint64_t seed, const RefusedStep& step, const Judgement& j) {
    static const char* const kWords[] = {"wrong", "over-strict", "unusable"};
    std::printf("%llu `%s` %s: %s %s\n", static_cast<unsigned long long>(seed), drawloom::print(step.line.step).c_str(),
                std::string(diag_name(step.kind)).c_str(), kWords[j.what], j.how.c_str());
    std::fflush(stdout);
  }

  /// tail=filled has no meaning before there is staging to fill.
  static auto is_filled(const RefusedStep& s) -> bool {
    const auto* split = std::get_if<Split>(&s.line.step);
    return split && split->tail.kind == Tail::Kind::filled;
  }

  void print() const {
    uint64_t wrong = 0, strict = 0;
    std::printf("%-26s %6s %12s  how it shows\n", "refused as", "wrong", "over-strict");
    for (const auto& [kind, t] : tallies_) {
      wrong += t.wrong, strict += t.strict;
      std::vector<std::string> hows;
      for (const auto& [how, n] : t.how) hows.push_back(str("{} x {}", n, how));
      std::printf("%-26s %6llu %12llu  %s\n", std::string(diag_name(kind)).c_str(),
                  static_cast<unsigned long long>(t.wrong), static_cast<unsigned long long>(t.strict),
                  join(hows, ", ").c_str());
      if (!t.example.empty()) std::printf("  over-strict, for example: %s\n", t.example.c_str());
    }
    std::printf("%llu refused steps: %llu really wrong, %llu over-strict\n", static_cast<unsigned long long>(judged_),
                static_cast<unsigned long long>(wrong), static_cast<unsigned long long>(strict));
  }

  const Options& options_;
  Judge judge_;
  uint64_t judged_ = 0;
  std::map<DiagKind, Tally> tallies_;
};

}  // namespace

auto run_refused(const Options& o) -> int { return Collection(o).run(); }

}  // namespace drawloom::fuzz
