// The rows of atoms.def, one DeviceAtom for each member of a family.
//
// Example: the row "wgmma.m64n{N}k16.f32.f16" with N from 8 to 256 by 8 gives 32 atoms. In the one of N = 64 the
// operand "d:+f32*N/2" is d: 32 registers of f32, read (`+`) and written. A mistake in a row is a mistake in the
// program itself, so it stops the process on first use and is no diagnostic.
#include "drawloom/ir/atoms.h"

#include <charconv>
#include <unordered_map>

#include "drawloom/support/check.h"
#include "drawloom/support/text.h"

namespace drawloom {
namespace {

struct Row {
  AtomFamily family;
  std::string_view name;
  int first, last, step, k;
  std::string_view element;
  AtomOwner owner;
  int cost;
  std::string_view operands, needs, meaning, ptx;
};

constexpr Row kRows[] = {
#define ATOM(family, name, first, last, step, k, element, owner, cost, operands, needs, meaning, ptx) \
  {AtomFamily::family, name, first, last, step, k, element, AtomOwner::owner, cost, operands, needs, meaning, ptx},
#include "drawloom/ir/atoms.def"
};

/// Every `{N}` replaced by the number.
auto with_n(std::string_view text, int n) -> std::string {
  std::string out;
  while (true) {
    const size_t at = text.find("{N}");
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += str("{}", n);
    text.remove_prefix(at + 3);
  }
}

auto number(std::string_view text) -> int {
  int out = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), out);
  DRAWLOOM_CHECK(end.ec == std::errc() && end.ptr == text.data() + text.size(), "atoms.def: not a number: {}", text);
  return out;
}
/// `4`, `N`, `N/2`
auto count_of(std::string_view text, int n) -> int {
  if (text == "N") return n;
  if (text.starts_with("N/")) return n / number(text.substr(2));
  return number(text);
}

auto type_named(std::string_view text) -> Type {
  Type out;
  DRAWLOOM_CHECK(parse_type(text, out), "atoms.def: not a type: {}", text);
  return out;
}

/// The kinds that are words of their own; false for the others.
auto read_word(std::string_view word, AtomOperand& out) -> bool {
  constexpr std::pair<std::string_view, OperandKind> kWords[] = {
      {"desc", OperandKind::Descriptor}, {"map", OperandKind::Map},         {"smem", OperandKind::Shared},
      {"gmem", OperandKind::Global},     {"barrier", OperandKind::Barrier}, {"pred", OperandKind::Predicate},
      {"imm", OperandKind::Immediate}};
  for (const auto& [text, kind] : kWords) {
    if (word == text) return out.kind = kind, true;
  }
  return false;
}

/// `name:kind`, see atoms.def
auto read_operand(std::string_view text, int n) -> AtomOperand {
  AtomOperand out;
  const size_t colon = text.find(':');
  out.name = text.substr(0, colon);
  std::string_view kind = text.substr(colon + 1);
  if (kind[0] == '=' || kind[0] == '+') {
    out.written = true;
    out.read = kind[0] == '+';
    kind.remove_prefix(1);
  }
  if (const size_t at = kind.find('@'); at != std::string_view::npos) {
    out.alignment = number(kind.substr(at + 1));
    kind = kind.substr(0, at);
  }
  if (read_word(kind, out)) return out;
  const size_t mark = kind.find_first_of("*^");
  out.type = type_named(kind.substr(0, mark));
  if (mark == std::string_view::npos) return out;
  out.kind = kind[mark] == '*' ? OperandKind::Registers : OperandKind::Values;
  out.count = count_of(kind.substr(mark + 1), n);
  return out;
}

auto member(const Row& row, int n) -> DeviceAtom {
  DeviceAtom out;
  out.name = with_n(row.name, n);
  out.family = row.family;
  out.owner = row.owner;
  out.n = n, out.k = row.k, out.cost = row.cost;
  out.element = type_named(row.element);
  for (const auto& operand : split_text(row.operands, ' ')) out.operands.push_back(read_operand(operand, n));
  out.needs = row.needs, out.meaning = row.meaning;
  out.ptx = with_n(row.ptx, n);
  return out;
}

auto atoms() -> const std::vector<DeviceAtom>& {
  static const std::vector<DeviceAtom> list = [] {
    std::vector<DeviceAtom> out;
    for (const Row& row : kRows) {
      for (int n = row.first; n <= row.last; n += row.step) out.push_back(member(row, n));
    }
    return out;
  }();
  return list;
}

}  // namespace

auto DeviceAtom::arity() const -> int {
  int out = 0;
  for (const auto& o : operands) out += o.kind == OperandKind::Values ? o.count : 1;
  return out;
}

auto all_atoms() -> std::span<const DeviceAtom> { return atoms(); }

auto find_atom(std::string_view name) -> const DeviceAtom* {
  static const auto index = [] {
    std::unordered_map<std::string_view, const DeviceAtom*> out;
    for (const DeviceAtom& atom : atoms()) out.emplace(atom.name, &atom);
    return out;
  }();
  const auto hit = index.find(name);
  return hit == index.end() ? nullptr : hit->second;
}

}  // namespace drawloom
