// Forms with some of their atoms replaced. Forms are graphs: an atom that many terms share is looked at once.

#include <unordered_map>

#include "drawloom/analysis/form_internal.h"

namespace drawloom {
namespace {

class Replacer {
 public:
  explicit Replacer(const AtomMap& map) : map_(map) {}

  auto form(const Form& f) -> Form {
    bool same = true;
    Form out(f.constant());
    for (const auto& t : f.terms()) {
      const std::optional<Form> to = t.atom ? atom(t.atom) : std::nullopt;
      same = same && !to;
      out += to ? forms::product(t.factor, t.symbols, {}) * *to : form_of(t);
    }
    return same ? f : out;
  }

 private:
  /// Nothing: the atom stays.
  auto atom(const Ref<const Atom>& a) -> std::optional<Form> {
    if (const auto hit = memo_.find(a.get()); hit != memo_.end()) return hit->second;
    auto value = map_(*a, [this](const Form& f) { return form(f); });
    if (!value) value = from_operands(*a);
    memo_.emplace(a.get(), value);
    return value;
  }

  auto from_operands(const Atom& a) -> std::optional<Form> {
    if (a.kind == AtomKind::Opaque) return {};
    std::vector<Form> operands;
    bool same = true;
    for (const auto& f : a.operands) {
      operands.push_back(form(f));
      same = same && FormBuilder::terms_of(operands.back()) == FormBuilder::terms_of(f);
    }
    return same ? std::nullopt : std::optional(forms::with_operands(a, std::move(operands), a.condition));
  }

  const AtomMap& map_;
  std::unordered_map<const Atom*, std::optional<Form>> memo_;
};

}  // namespace

auto replace_atoms(const Form& f, const AtomMap& map) -> Form { return Replacer(map).form(f); }

}  // namespace drawloom
