#include "drawloom/support/lexer.h"

#include <charconv>

namespace drawloom {
namespace {

constexpr std::string_view kLongPuncts[] = {"->", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", ".."};
constexpr std::string_view kPuncts = "()[]{}<>,;:=+-*/%&|^!~.?@";

auto is_digit(char c) -> bool { return c >= '0' && c <= '9'; }
auto starts_word(char c) -> bool { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
auto is_word_char(char c) -> bool { return starts_word(c) || is_digit(c); }

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view file, NameStyle names)
      : source_(source), file_(make_ref<FileName>(std::string(file))), sigils_(names == NameStyle::Sigils) {}

  auto run() -> Result<std::vector<Token>> {
    while (true) {
      skip_blanks();
      const size_t start = at_;
      const auto loc = here();
      if (start == source_.size()) {
        push(TokenKind::End, start, loc);
        return std::move(tokens_);
      }
      DRAWLOOM_TRY(const auto kind, scan(loc));
      push(kind, start, loc);
    }
  }

 private:
  auto peek(size_t ahead = 0) const -> char { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
  auto here() const -> Loc { return Loc(file_, line_, static_cast<uint32_t>(at_ - line_start_ + 1)); }

  void skip_blanks() {
    while (at_ < source_.size()) {
      if (source_.substr(at_, 2) == "//") {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (source_[at_] == '\n') {
        ++line_, line_start_ = ++at_, fresh_line_ = true;
      } else if (std::string_view(" \t\r").find(source_[at_]) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  void push(TokenKind kind, size_t start, const Loc& loc) {
    tokens_.push_back({kind, source_.substr(start, at_ - start), start, loc, fresh_line_});
    fresh_line_ = false;
  }

  /// Moves over one token.
  auto scan(const Loc& loc) -> Result<TokenKind> {
    const char c = peek();
    if (starts_word(c)) return scan_name(0, false), TokenKind::Word;
    if (is_digit(c)) return scan_number();
    if (sigils_ && c == '%' && starts_word(peek(1))) return scan_name(1, true), TokenKind::Variable;
    if (sigils_ && c == '@' && starts_word(peek(1))) return scan_name(1, true), TokenKind::Function;
    if (c == '#' && is_digit(peek(1))) return scan_name(1, false), TokenKind::Shared;
    if (c == '"') return scan_string(loc);
    for (const auto punct : kLongPuncts) {
      if (source_.substr(at_, 2) == punct) return at_ += 2, TokenKind::Punct;
    }
    if (kPuncts.find(c) != std::string_view::npos) return ++at_, TokenKind::Punct;
    return Diag(DiagKind::parse_unexpected, loc, "a token", str("`{}`", c));
  }

  /// Names with a sigil may contain dots, as hints like `blur.x` do; a word may not, `.` separates words.
  void scan_name(size_t sigil, bool dots) {
    at_ += sigil;
    while (is_word_char(peek()) || (dots && peek() == '.' && is_word_char(peek(1)))) ++at_;
  }

  auto scan_number() -> TokenKind {
    if (peek() == '0' && peek(1) == 'x') {
      at_ += 2;
      while (is_word_char(peek())) ++at_;
      return TokenKind::Int;
    }
    auto kind = TokenKind::Int;
    const auto digits = [this] {
      while (is_digit(peek())) ++at_;
    };
    digits();
    if (peek() == '.' && is_digit(peek(1))) kind = TokenKind::Float, ++at_, digits();
    const size_t sign = peek(1) == '-' || peek(1) == '+' ? 1 : 0;
    if (peek() == 'e' && is_digit(peek(1 + sign))) kind = TokenKind::Float, at_ += 1 + sign, digits();
    return kind;
  }

  auto scan_string(const Loc& loc) -> Result<TokenKind> {
    for (++at_; peek() != '"'; ++at_) {
      if (peek() == '\\') ++at_;
      if (peek() == '\n' || at_ >= source_.size()) {
        return Diag(DiagKind::parse_unexpected, loc, "`\"` at the end of the string", "the end of the line");
      }
    }
    return ++at_, TokenKind::String;
  }

  std::string_view source_;
  Ref<FileName> file_;
  std::vector<Token> tokens_;
  size_t at_ = 0, line_start_ = 0;
  uint32_t line_ = 1;
  bool sigils_, fresh_line_ = true;
};

}  // namespace

auto Token::described() const -> std::string {
  return kind == TokenKind::End ? std::string("the end of the text") : str("`{}`", text);
}

auto lex(std::string_view source, std::string_view file, NameStyle names) -> Result<std::vector<Token>> {
  return Lexer(source, file, names).run();
}

auto string_value(const Token& token) -> std::string {
  std::string out;
  for (size_t i = 1; i + 1 < token.text.size(); ++i) {
    char c = token.text[i];
    if (c == '\\') {
      c = token.text[++i];
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    out += c;
  }
  return out;
}

auto quoted(std::string_view text) -> std::string {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      default: out += c;
    }
  }
  return out + "\"";
}

auto TokenCursor::peek(size_t ahead) const -> const Token& {
  return (*tokens_)[std::min(at_ + ahead, tokens_->size() - 1)];
}
auto TokenCursor::next() -> const Token& {
  const Token& token = peek();
  if (!at_end()) ++at_;
  return token;
}
auto TokenCursor::accept(std::string_view word_or_punct) -> bool {
  if (!at(word_or_punct)) return false;
  next();
  return true;
}
auto TokenCursor::expect(std::string_view word_or_punct) -> Status {
  if (!accept(word_or_punct)) return unexpected(str("`{}`", word_or_punct));
  return Done();
}
auto TokenCursor::expect(TokenKind kind, std::string_view what) -> Result<Token> {
  if (!at(kind)) return unexpected(what);
  return next();
}
auto TokenCursor::expect_integer(std::string_view what) -> Result<int64_t> {
  const Loc start = loc();
  const bool negative = accept("-");
  DRAWLOOM_TRY(const Token token, expect(TokenKind::Int, what));
  uint64_t magnitude;
  const uint64_t limit = (uint64_t{1} << 63) - !negative;
  if (!parse_magnitude(token.text, magnitude) || magnitude > limit) {
    return Diag(DiagKind::parse_number, start, str("{}{}", negative ? "-" : "", token.text), "64-bit integer");
  }
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}
auto TokenCursor::expect_version(std::string_view form, int version) -> Status {
  const Loc start = loc();
  std::string found;
  for (const auto kind : {TokenKind::Word, TokenKind::Punct, TokenKind::Word, TokenKind::Int}) {
    if (!at(kind)) break;
    if (kind == TokenKind::Int) found += ' ';
    found += next().text;
  }
  const auto wanted = str("drawloom-{} {}", form, version);
  if (found != wanted) return Diag(DiagKind::parse_version, start, found, wanted);
  return Done();
}
auto TokenCursor::unexpected(std::string_view what) const -> Diag {
  return Diag(DiagKind::parse_unexpected, loc(), what, peek().described());
}

auto parse_magnitude(std::string_view text, uint64_t& out) -> bool {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, hex ? 16 : 10);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace drawloom
