// The text form of layouts. Grammar: docs/layout.md.
#include <bit>
#include <charconv>

#include "drawloom/layout/draft.h"
#include "drawloom/support/lexer.h"

namespace drawloom {
namespace {

// ---- printing

/// `*stride` where a digit does not start right above the one below.
auto stride_text(const Digit& digit, int64_t expected) -> std::string {
  return digit.stride == expected ? "" : str("*{}", digit.stride);
}

/// Number of digits from `k` on that are bits, each right above the one before.
auto bit_run(const std::vector<Digit>& digits, size_t k) -> size_t {
  size_t n = 1;
  while (k + n < digits.size() && digits[k].extent == 2 && digits[k + n].extent == 2 &&
         digits[k + n].stride == 2 * digits[k + n - 1].stride) {
    ++n;
  }
  return n;
}

auto space_text(const Dim& dim) -> std::string {
  std::string out = dim.name + ":";
  if (dim.digits.empty()) return out + " 1";
  int64_t expected = 1;
  for (size_t k = 0; k < dim.digits.size();) {
    const size_t n = bit_run(dim.digits, k);
    out += n > 1 ? str(" 2^{}", n) : str(" {}", dim.digits[k].extent);
    out += stride_text(dim.digits[k], expected);
    k += n;
    expected = dim.digits[k - 1].stride * dim.digits[k - 1].extent;
  }
  return out;
}

/// The input side: per digit what it moves.
class InputText {
 public:
  explicit InputText(const Layout& layout) : columns_(layout.columns()) {
    for (const auto& dim : layout.to()) {
      for (size_t k = 0; k < dim.digits.size(); ++k) names_.push_back({dim.name, k});
    }
  }

  /// `first`: number of the Dim's lowest digit.
  auto text(const Dim& dim, size_t first) const -> std::string {
    std::string out = dim.name + ":";
    if (dim.digits.empty()) return out + " 1";
    int64_t expected = 1;
    for (size_t k = 0; k < dim.digits.size();) {
      const size_t n = run(dim.digits, first, k);
      out += " " + moves(dim.digits[k], columns_[first + k]);
      if (n > 1) out += str("-{}", name(columns_[first + k + n - 1]).index);
      out += stride_text(dim.digits[k], expected);
      k += n;
      expected = dim.digits[k - 1].stride * dim.digits[k - 1].extent;
    }
    return out;
  }

 private:
  struct Name {
    std::string dim;
    size_t index;
    auto text() const -> std::string { return str("{}{}", dim, index); }
  };
  auto name(uint64_t single) const -> const Name& { return names_[static_cast<size_t>(std::countr_zero(single))]; }

  auto moves(const Digit& digit, uint64_t column) const -> std::string {
    if (column == 0) return digit.extent == 2 ? "0" : str("0:{}", digit.extent);
    std::vector<std::string> parts;
    for (; column != 0; column &= column - 1) parts.push_back(name(column & -column).text());
    return join(parts, "^");
  }

  /// Number of digits from `k` on that can be written `row3-5`.
  auto run(const std::vector<Digit>& digits, size_t first, size_t k) const -> size_t {
    size_t n = 1;
    for (; k + n < digits.size(); ++n) {
      const uint64_t low = columns_[first + k + n - 1], high = columns_[first + k + n];
      if (!std::has_single_bit(low) || !std::has_single_bit(high)) break;
      if (name(low).dim != name(high).dim || name(high).index != name(low).index + 1) break;
      if (digits[k + n].stride != digits[k + n - 1].stride * digits[k + n - 1].extent) break;
    }
    return n;
  }

  const std::vector<uint64_t>& columns_;
  std::vector<Name> names_;
};

// ---- parsing

/// One word `row3`, as a name and a number.
struct DigitName {
  std::string dim;
  int64_t index = 0;
  Loc loc;
};

class LayoutParser {
 public:
  explicit LayoutParser(TokenCursor cursor) : cursor_(cursor) {}

  auto run() -> Result<Layout> {
    DRAWLOOM_REQUIRE(inputs());
    DRAWLOOM_REQUIRE(cursor_.expect("->"));
    DRAWLOOM_REQUIRE(outputs());
    if (!cursor_.at_end()) return cursor_.unexpected("the end of the layout");
    DRAWLOOM_REQUIRE(resolve());
    const auto loc = cursor_.loc();
    auto out = draft_.finish();
    if (!out.ok()) return Diag(DiagKind::parse_unexpected, loc, "a layout", out.why());
    return std::move(out).value();
  }

 private:
  /// An input digit as written; its extent is that of what it moves.
  struct Entry {
    int dim;
    std::vector<DigitName> moves;
    int64_t zero_extent = 2, stride = 0;  // stride 0: next
  };

  auto dim_name() -> Result<std::string> {
    DRAWLOOM_TRY(const auto token, cursor_.expect(TokenKind::Word, "the name of a coordinate"));
    const auto name = std::string(token.text);
    if (name.find_first_of("0123456789") != std::string::npos) {
      return Diag(DiagKind::parse_unexpected, token.loc, "a name of letters", str("`{}`", name));
    }
    DRAWLOOM_REQUIRE(cursor_.expect(":"));
    return name;
  }

  auto inputs() -> Status {
    DRAWLOOM_REQUIRE(cursor_.expect("("));
    while (!cursor_.accept(")")) {
      DRAWLOOM_TRY(const auto name, dim_name());
      const int dim = draft_.from_dim(name);
      if (dim + 1 != static_cast<int>(draft_.from_dims.size())) {
        return Diag(DiagKind::parse_redefined, cursor_.loc(), "coordinate", name);
      }
      while (!cursor_.at(",") && !cursor_.at(")")) DRAWLOOM_REQUIRE(input_digits(dim));
      if (!cursor_.accept(",") && !cursor_.at(")")) return cursor_.unexpected("`,` or `)`");
    }
    return Done{};
  }

  auto stride() -> Result<int64_t> {
    if (!cursor_.accept("*")) return int64_t{0};
    return positive("a stride");
  }

  auto positive(std::string_view what, int64_t most = kMost) -> Result<int64_t> {
    const auto loc = cursor_.loc();
    DRAWLOOM_TRY(const auto value, cursor_.expect_integer(what));
    if (value < 1) return Diag(DiagKind::parse_number, loc, value, "positive number");
    if (value > most) return Diag(DiagKind::parse_number, loc, value, str("number of at most {}", most));
    return value;
  }

  /// Extents and strides stay far below overflow.
  static constexpr int64_t kMost = int64_t{1} << 40;
  auto too_large(int64_t stride) const -> Diag {
    return Diag(DiagKind::parse_number, cursor_.loc(), stride, str("stride of at most {}", kMost));
  }

  /// `0`, `0:11`, `1` (no digit), `row3`, `row3^col0`, `row3-5`, each with an optional `*stride`.
  auto input_digits(int dim) -> Status {
    if (cursor_.at(TokenKind::Int)) return zero_digit(dim);
    Entry entry = {dim, {}};
    do {
      DRAWLOOM_TRY(auto name, digit_name());
      entry.moves.push_back(std::move(name));
    } while (cursor_.accept("^"));
    auto last = entry.moves[0].index;
    if (entry.moves.size() == 1 && cursor_.accept("-")) {
      DRAWLOOM_TRY(last, positive("the number of a digit", 63));
    }
    DRAWLOOM_TRY(entry.stride, stride());
    entries_.push_back(entry);
    for (auto next = entry.moves[0]; next.index < last;) {
      ++next.index;
      entries_.push_back({dim, {next}});
    }
    return Done{};
  }

  auto zero_digit(int dim) -> Status {
    const auto loc = cursor_.loc();
    DRAWLOOM_TRY(const auto value, cursor_.expect_integer("0"));
    if (value == 1) return Done{};
    if (value != 0) return Diag(DiagKind::parse_unexpected, loc, "an output digit, 0 or 1", str("`{}`", value));
    Entry entry = {dim, {}};
    if (cursor_.accept(":")) {
      DRAWLOOM_TRY(entry.zero_extent, positive("an extent"));
    }
    DRAWLOOM_TRY(entry.stride, stride());
    entries_.push_back(std::move(entry));
    return Done{};
  }

  auto digit_name() -> Result<DigitName> {
    DRAWLOOM_TRY(const auto token, cursor_.expect(TokenKind::Word, "an output digit"));
    const auto split = token.text.find_first_of("0123456789");
    DigitName out = {std::string(token.text.substr(0, split)), 0, token.loc};
    uint64_t index = 0;
    if (split == std::string_view::npos || split == 0 || !parse_magnitude(token.text.substr(split), index)) {
      return Diag(DiagKind::parse_unexpected, token.loc, "an output digit like `row3`", str("`{}`", token.text));
    }
    out.index = static_cast<int64_t>(index);
    return out;
  }

  auto outputs() -> Status {
    DRAWLOOM_REQUIRE(cursor_.expect("("));
    while (!cursor_.accept(")")) {
      DRAWLOOM_TRY(const auto name, dim_name());
      const int dim = draft_.to_dim(name);
      if (dim + 1 != static_cast<int>(draft_.to_dims.size())) {
        return Diag(DiagKind::parse_redefined, cursor_.loc(), "coordinate", name);
      }
      int64_t next = 1;
      while (!cursor_.at(",") && !cursor_.at(")")) DRAWLOOM_REQUIRE(output_digits(dim, next));
      if (!cursor_.accept(",") && !cursor_.at(")")) return cursor_.unexpected("`,` or `)`");
    }
    return Done{};
  }

  /// `2^5`, `11`, `1` (no digit), each with an optional `*stride`.
  auto output_digits(int dim, int64_t& next) -> Status {
    DRAWLOOM_TRY(const auto extent, positive("an extent"));
    int64_t count = 1;
    if (extent == 2 && cursor_.accept("^")) {
      DRAWLOOM_TRY(count, positive("a number of bits", 63));
    }
    DRAWLOOM_TRY(const auto given, stride());
    if (given > 0) next = given;
    for (int64_t k = 0; k < count && extent > 1; ++k, next *= extent) {
      if (next > kMost / extent) return too_large(next);
      draft_.add_to({dim, extent, next});
    }
    return Done{};
  }

  /// Inputs are written before outputs, so what their digits move is known only at the end.
  auto resolve() -> Status {
    std::vector<int64_t> next(draft_.from_dims.size(), 1);
    for (const auto& entry : entries_) {
      std::vector<int> moves;
      int64_t extent = entry.zero_extent;
      for (const auto& name : entry.moves) {
        DRAWLOOM_TRY(const int t, find(name));
        moves.push_back(t);
        extent = draft_.to[static_cast<size_t>(t)].extent;
      }
      auto& at = next[static_cast<size_t>(entry.dim)];
      if (entry.stride > 0) at = entry.stride;
      if (at > kMost / extent) return too_large(at);
      draft_.add_from({entry.dim, extent, at}, std::move(moves));
      at *= extent;
    }
    return Done{};
  }

  auto find(const DigitName& name) -> Result<int> {
    for (size_t d = 0; d < draft_.to_dims.size(); ++d) {
      if (draft_.to_dims[d] != name.dim) continue;
      const auto places = Draft::in_order(draft_.to, static_cast<int>(d));
      if (static_cast<size_t>(name.index) < places.size()) return places[static_cast<size_t>(name.index)];
    }
    return Diag(DiagKind::parse_unknown_name, name.loc, "output digit", str("{}{}", name.dim, name.index));
  }

  TokenCursor cursor_;
  Draft draft_;
  std::vector<Entry> entries_;
};

}  // namespace

auto Layout::text() const -> std::string {
  const InputText input(*this);
  std::vector<std::string> left, right;
  size_t first = 0;
  for (const auto& dim : from_) {
    left.push_back(input.text(dim, first));
    first += dim.digits.size();
  }
  for (const auto& dim : to_) right.push_back(space_text(dim));
  return str("({}) -> ({})", join(left, ", "), join(right, ", "));
}

auto parse_layout(std::string_view text, std::string_view file) -> Result<Layout> {
  DRAWLOOM_TRY(const auto tokens, lex(text, file, NameStyle::Plain));
  return LayoutParser(TokenCursor(tokens)).run();
}

}  // namespace drawloom
