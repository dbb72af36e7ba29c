// Forms for people: positive terms first, the constant last.

#include "drawloom/analysis/form_internal.h"
#include "drawloom/ir/text_form.h"

namespace drawloom {
namespace {

/// Sums and differences need parentheses where a factor stands.
auto is_simple(const Form& f) -> bool {
  if (f.is_constant()) return f.constant() >= 0;
  return static_cast<bool>(f.as_symbol()) ||
         (as_atom(f) && f.constant() == 0 && as_atom(f)->kind != AtomKind::FloorDiv &&
          as_atom(f)->kind != AtomKind::Mod);
}

class Writer {
 public:
  auto take() -> std::string { return std::move(out_); }

  void form(const Form& f) {
    bool first = true;
    // n - x, not -x + n
    for (const bool negative : {false, true}) {
      for (const auto& t : f.terms()) {
        if ((t.factor < 0) == negative) term(t, first);
      }
    }
    if (f.constant() == 0 && !first) return;
    if (first) {
      out_ += to_text(f.constant());
    } else {
      out_ += f.constant() < 0 ? " - " : " + ";
      out_ += magnitude(f.constant());
    }
  }

  void condition(const Cond& c) {
    if (c.is_never()) out_ += "false";
    if (c.is_always()) out_ += "true";
    for (size_t i = 0; i < c.terms().size(); ++i) {
      if (i) out_ += " && ";
      form(c.terms()[i]);
      out_ += " >= 0";
    }
  }

 private:
  static auto magnitude(int64_t v) -> std::string {
    return to_text(v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v));
  }

  void term(const Term& t, bool& first) {
    if (first) {
      out_ += t.factor < 0 ? "-" : "";
    } else {
      out_ += t.factor < 0 ? " - " : " + ";
    }
    first = false;
    std::string_view separator = "";
    if (t.factor != 1 && t.factor != -1) {
      out_ += magnitude(t.factor);
      separator = "*";
    }
    for (const auto& s : t.symbols) {
      out_ += separator;
      out_ += s->name;
      separator = "*";
    }
    if (!t.atom) return;
    const bool division = t.atom->kind == AtomKind::FloorDiv || t.atom->kind == AtomKind::Mod;
    const bool wrap = division && !separator.empty();
    out_ += separator;
    out_ += wrap ? "(" : "";
    atom(*t.atom);
    out_ += wrap ? ")" : "";
  }

  void atom(const Atom& a) {
    if (out_.size() > kMaxText) {
      out_ += "..";
      return;
    }
    switch (a.kind) {
      case AtomKind::None: break;
      case AtomKind::FloorDiv: return division(a, "/");
      case AtomKind::Mod: return division(a, "%");
      case AtomKind::Min: return list("min(", a.operands);
      case AtomKind::Max: return list("max(", a.operands);
      case AtomKind::Choose:
        out_ += "choose(";
        condition(a.condition);
        return list(", ", a.operands);
      case AtomKind::Opaque:
        out_ += "{";
        out_ += print(a.expr);
        out_ += "}";
        return;
    }
  }

  void division(const Atom& a, const char* sign) {
    wrapped(a.operands[0]);
    out_ += sign;
    wrapped(a.operands[1]);
  }
  void wrapped(const Form& f) {
    if (is_simple(f)) return form(f);
    out_ += "(";
    form(f);
    out_ += ")";
  }
  void list(const char* open, const std::vector<Form>& operands) {
    out_ += open;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (i) out_ += ", ";
      form(operands[i]);
    }
    out_ += ")";
  }

  static constexpr size_t kMaxText = 2000;  // shared atoms are written out wherever they occur
  std::string out_;
};

}  // namespace

auto Form::text() const -> std::string {
  Writer w;
  w.form(*this);
  return w.take();
}

auto Cond::text() const -> std::string {
  Writer w;
  w.condition(*this);
  return w.take();
}

}  // namespace drawloom
