#include "drawloom/steps/field_text.h"

#include <algorithm>

namespace drawloom {
namespace {

auto is_name_start(char c) -> bool { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
auto is_digit(char c) -> bool { return c >= '0' && c <= '9'; }
auto is_name_char(char c) -> bool { return is_name_start(c) || is_digit(c); }

// Words of enumerations, in the order of their enumerators.
const std::vector<std::string> kWarmUps = {"auto", "whole", "gradual"};
const std::vector<std::string> kPartitions = {"auto", "always", "never"};
const std::vector<std::string> kTails = {"predicate", "round_up", "filled", "shrink"};

template <typename E>
auto word_of(E value, const std::vector<std::string>& words) -> std::string {
  return words[static_cast<size_t>(value)];
}

/// Position of the next name among `words`. Errors: parse_unexpected, parse_unknown_name.
auto read_word(StepCursor& in, std::string_view what, const std::vector<std::string>& words) -> Result<size_t> {
  const Loc loc = in.loc();
  const auto word = in.take_name();
  if (word.empty()) return in.unexpected(what);
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) return unknown_word(what, word, words, loc);
  return static_cast<size_t>(at - words.begin());
}

}  // namespace

auto is_name(std::string_view text) -> bool {
  return !text.empty() && is_name_start(text[0]) && std::all_of(text.begin(), text.end(), is_name_char);
}

auto unknown_word(std::string_view what, const std::string& word, const std::vector<std::string>& known, const Loc& loc)
    -> Diag {
  const Diag diag(DiagKind::parse_unknown_name, loc, what, word);
  const auto near = nearest(word, known);
  return diag.with_help(near.empty() ? str("one of {}", join(known, ", ")) : str("did you mean `{}`?", near));
}

// --- the cursor

auto StepCursor::at_end() const -> bool { return tokens_->at_end() || (moved_ && tokens_->peek().starts_line); }

/// `words` may be several tokens, as `.update(`. Taken as a whole or not at all, and never across a line.
auto StepCursor::take(std::string_view words) -> bool {
  size_t count = 0;
  for (size_t at = 0; at < words.size(); ++count) {
    const Token& token = tokens_->peek(count);
    if (token.kind == TokenKind::End || (token.starts_line && (moved_ || count))) return false;
    if (!words.substr(at).starts_with(token.text)) return false;
    at += token.text.size();
  }
  while (count--) step_over();
  return true;
}
auto StepCursor::take_name() -> std::string {
  if (at_end() || !tokens_->at(TokenKind::Word)) return {};
  const auto name = std::string(tokens_->peek().text);
  step_over();
  return name;
}
auto StepCursor::take_integer() -> Result<std::optional<int64_t>> {
  const bool negative = !at_end() && tokens_->at("-");
  if (at_end() || tokens_->peek(negative).kind != TokenKind::Int) return std::optional<int64_t>();
  const Loc place = loc();
  if (negative) step_over();
  const auto text = tokens_->peek().text;
  uint64_t magnitude = 0;
  if (!parse_magnitude(text, magnitude) || magnitude > (uint64_t{1} << 63) - !negative) {
    return Diag(DiagKind::parse_number, place, text, "64-bit integer");
  }
  step_over();
  return std::optional<int64_t>(static_cast<int64_t>(negative ? 0 - magnitude : magnitude));
}
auto StepCursor::take_rest() -> std::string {
  std::string out;
  for (; !at_end(); step_over()) out += tokens_->peek().text;
  return out;
}
auto StepCursor::loc() const -> Loc { return at_end() && moved_ ? last_end_ : loc_of(tokens_->peek()); }
auto StepCursor::loc_of(const Token& token) const -> Loc { return start_ ? start_->shifted(token.offset) : token.loc; }
void StepCursor::step_over() {
  const Token& token = tokens_->next();
  last_end_ = loc_of(token).shifted(token.text.size());
  moved_ = true;
}
auto StepCursor::unexpected(std::string_view what) const -> Diag {
  return Diag(DiagKind::parse_unexpected, loc(), what,
              at_end() ? std::string("the end of the line") : tokens_->peek().described());
}

// --- printing

auto StageName::text() const -> std::string {
  std::string out = func;
  if (realisation >= 0) out += str("[{}]", realisation);
  if (update >= 0) out += str(".update({})", update);
  return out;
}
auto LoopName::text() const -> std::string { return stage.text() + "." + loop; }
auto Amount::text() const -> std::string { return symbol.empty() ? std::to_string(value) : symbol; }
auto Tail::text() const -> std::string {
  const auto word = word_of(kind, kTails);
  return kind == Kind::filled ? str("{}({})", word, fill) : word;
}

auto field_text(const std::string& v) -> std::string { return v; }
auto field_text(const std::vector<std::string>& v) -> std::string { return join(v, " "); }
auto field_text(const StageName& v) -> std::string { return v.text(); }
auto field_text(const LoopName& v) -> std::string { return v.text(); }
auto field_text(const Amount& v) -> std::string { return v.text(); }
auto field_text(const Tail& v) -> std::string { return v.text(); }
auto field_text(int64_t v) -> std::string { return std::to_string(v); }
auto field_text(WarmUp v) -> std::string { return word_of(v, kWarmUps); }
auto field_text(PartitionMode v) -> std::string { return word_of(v, kPartitions); }
auto field_text(MemoryKind v) -> std::string { return std::string(memory_name(v)); }

// --- reading

auto read_field(StepCursor& in, std::string& v) -> Status {
  v = in.take_name();
  if (v.empty()) return in.unexpected("a name");
  return Done{};
}
auto read_field(StepCursor& in, std::vector<std::string>& v) -> Status {
  v.clear();
  while (!in.at_end()) {
    v.emplace_back();
    DRAWLOOM_REQUIRE(read_field(in, v.back()));
  }
  if (v.empty()) return in.unexpected("names");
  return Done{};
}
auto read_field(StepCursor& in, int64_t& v) -> Status {
  DRAWLOOM_TRY(const auto number, in.take_integer());
  if (!number) return in.unexpected("an integer");
  v = *number;
  return Done{};
}
auto read_field(StepCursor& in, StageName& v) -> Status {
  const auto index = [&](int& out, std::string_view close) -> Status {
    int64_t n = 0;
    DRAWLOOM_REQUIRE(read_field(in, n));
    if (n < 0 || n > 1'000'000) return Diag(DiagKind::parse_number, in.loc(), n, "count");
    out = static_cast<int>(n);
    if (!in.take(close)) return in.unexpected(str("`{}`", close));
    return Done{};
  };
  DRAWLOOM_REQUIRE(read_field(in, v.func));
  if (in.take("[")) DRAWLOOM_REQUIRE(index(v.realisation, "]"));
  if (in.take(".update(")) DRAWLOOM_REQUIRE(index(v.update, ")"));
  return Done{};
}
auto read_field(StepCursor& in, LoopName& v) -> Status {
  DRAWLOOM_REQUIRE(read_field(in, v.stage));
  if (!in.take(".")) return in.unexpected("`.` and the name of a loop");
  return read_field(in, v.loop);
}
auto read_field(StepCursor& in, Amount& v) -> Status {
  DRAWLOOM_TRY(const auto number, in.take_integer());
  v.value = number.value_or(0);
  v.symbol = number ? std::string() : in.take_name();
  if (!number && v.symbol.empty()) return in.unexpected("an integer or the name of a parameter");
  return Done{};
}
auto read_field(StepCursor& in, Tail& v) -> Status {
  DRAWLOOM_TRY(const size_t at, read_word(in, "tail", kTails));
  v.kind = static_cast<Tail::Kind>(at);
  if (v.kind != Tail::Kind::filled) return Done{};
  if (!in.take("(")) return in.unexpected("`(` and the value");
  DRAWLOOM_REQUIRE(read_field(in, v.fill));
  if (!in.take(")")) return in.unexpected("`)`");
  return Done{};
}
auto read_field(StepCursor& in, WarmUp& v) -> Status {
  DRAWLOOM_TRY(const size_t at, read_word(in, "warm-up", kWarmUps));
  v = static_cast<WarmUp>(at);
  return Done{};
}
auto read_field(StepCursor& in, PartitionMode& v) -> Status {
  DRAWLOOM_TRY(const size_t at, read_word(in, "partition mode", kPartitions));
  v = static_cast<PartitionMode>(at);
  return Done{};
}
auto read_field(StepCursor& in, MemoryKind& v) -> Status {
  // Storage of ours: `argument` is not a choice.
  constexpr MemoryKind kChoices[] = {MemoryKind::Heap, MemoryKind::Stack, MemoryKind::Register};
  std::vector<std::string> words;
  for (const auto m : kChoices) words.emplace_back(memory_name(m));
  DRAWLOOM_TRY(const size_t at, read_word(in, "memory", words));
  v = kChoices[at];
  return Done{};
}

}  // namespace drawloom
