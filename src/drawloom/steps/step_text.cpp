// Printing and parsing of steps, once for all of them: the pattern of a row of steps.def says the order of fields and
// the words between them, each_field says their types. A new step is a row and a struct.

#include <algorithm>

#include "drawloom/steps/field_text.h"
#include "drawloom/steps/schedule.h"
#include "drawloom/steps/step_rows.h"

namespace drawloom {
namespace {

/// `{loop} by {factor}[ tail={tail}]` is field, literal, field, open, literal, field, close.
struct Piece {
  enum class Kind { literal, field, open, close } kind;
  std::string_view text;
};

auto pieces_of(std::string_view pattern) -> std::vector<Piece> {
  std::vector<Piece> out;
  for (size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    if (c == '{') {
      const size_t end = pattern.find('}', at);
      out.push_back({Piece::Kind::field, pattern.substr(at + 1, end - at - 1)});
      at = end + 1;
    } else if (c == '[' || c == ']') {
      out.push_back({c == '[' ? Piece::Kind::open : Piece::Kind::close, {}});
      ++at;
    } else {
      const size_t end = std::min(pattern.find_first_of("{[]", at), pattern.size());
      out.push_back({Piece::Kind::literal, pattern.substr(at, end - at)});
      at = end;
    }
  }
  return out;
}

template <typename T>
struct RowOf;
#define STEP(name, word, effect, pattern, example)                     \
  template <>                                                          \
  struct RowOf<name> {                                                 \
    static constexpr StepRow row = {#word, #effect, pattern, example}; \
    static auto pieces() -> const std::vector<Piece>& {                \
      static const std::vector<Piece> list = pieces_of(pattern);       \
      return list;                                                     \
    }                                                                  \
  };
#include "drawloom/steps/steps.def"
#undef STEP

template <typename T>
auto text_of_field(const T& step, std::string_view name) -> std::string {
  std::string out;
  const_cast<T&>(step).each_field([&](std::string_view n, auto& value) {
    if (n == name) out = field_text(value);
  });
  return out;
}

template <typename T>
auto print_as(const T& step) -> std::string {
  const auto& pieces = RowOf<T>::pieces();
  std::string out = std::string(RowOf<T>::row.word) + " ";
  for (auto p = pieces.begin(); p != pieces.end(); ++p) {
    switch (p->kind) {
      case Piece::Kind::literal: out += p->text; break;
      case Piece::Kind::field: out += text_of_field(step, p->text); break;
      case Piece::Kind::open: {
        const auto close = std::find_if(p, pieces.end(), [](const Piece& q) { return q.kind == Piece::Kind::close; });
        const bool said = std::any_of(p, close, [&](const Piece& q) {
          return q.kind == Piece::Kind::field && text_of_field(step, q.text) != text_of_field(T{}, q.text);
        });
        if (!said) p = close;
        break;
      }
      case Piece::Kind::close: break;
    }
  }
  return out;
}

/// The words of a literal in turn; blanks between them are free.
auto take_words(StepCursor& in, std::string_view literal) -> Status {
  for (const auto& word : split_text(literal, ' ')) {
    if (!word.empty() && !in.take(word)) return in.unexpected(str("`{}`", word));
  }
  return Done{};
}

template <typename T>
auto read_named_field(StepCursor& in, T& step, std::string_view name) -> Status {
  Status out = Done{};
  step.each_field([&](std::string_view n, auto& value) {
    if (n == name) out = read_field(in, value);
  });
  return out;
}

template <typename T>
auto parse_as(StepCursor& in) -> Result<Step> {
  T step;
  std::string optional_word;
  const auto& pieces = RowOf<T>::pieces();
  for (auto p = pieces.begin(); p != pieces.end(); ++p) {
    switch (p->kind) {
      case Piece::Kind::literal: DRAWLOOM_REQUIRE(take_words(in, p->text)); break;
      case Piece::Kind::field: DRAWLOOM_REQUIRE(read_named_field(in, step, p->text)); break;
      case Piece::Kind::open:
        // A group starts with the literal that tells whether it is there.
        ++p;
        if (!take_words(in, p->text).ok()) {
          optional_word = trim(p->text);
          while (p->kind != Piece::Kind::close) ++p;
        }
        break;
      case Piece::Kind::close: break;
    }
  }
  if (in.at_end()) return Step(std::move(step));
  return in.unexpected(optional_word.empty() ? "the end of the line"
                                             : str("`{}` or the end of the line", optional_word));
}

}  // namespace

auto step_rows() -> const std::vector<StepRow>& {
  static const std::vector<StepRow> rows = {
#define STEP(name, word, effect, pattern, example) RowOf<name>::row,
#include "drawloom/steps/steps.def"
#undef STEP
  };
  return rows;
}

auto step_word(const Step& step) -> std::string_view { return step_rows()[step.index()].word; }

auto print(const Step& step) -> std::string {
  return std::visit([](const auto& s) { return print_as(s); }, step);
}

auto read_step(StepCursor& in) -> Result<Step> {
  const Loc word_loc = in.loc();
  const auto word = in.take_name();
  if (word.empty()) return in.unexpected("a step");
#define STEP(name, step_name, effect, pattern, example) \
  if (word == #step_name) return parse_as<name>(in);
#include "drawloom/steps/steps.def"
#undef STEP
  std::vector<std::string> words;
  for (const auto& row : step_rows()) words.emplace_back(row.word);
  return unknown_word("step", word, words, word_loc);
}

auto parse_step(std::string_view text, const Loc& loc) -> Result<Step> {
  auto tokens = lex(text, loc.file(), NameStyle::Plain);
  if (!tokens.ok()) return Diag(tokens.diag().kind(), loc, tokens.diag().args());
  TokenCursor cursor(*tokens);
  StepCursor in(cursor, &loc);
  return read_step(in);
}

}  // namespace drawloom
