#pragma once
/// Tokens of all our text forms: IR, schedules, pipelines. One lexer, so that names, numbers, strings and comments look
/// the same everywhere.

#include <string>
#include <string_view>
#include <vector>

#include "drawloom/support/result.h"

namespace drawloom {

/// Word: `blur`. Variable: `%x`. Function: `@blur`. Shared: `#1`. Int: `12`, `0xff`. Float: `1.5`, `2e-3`.
/// String: `"text"`. Punct: operators and brackets, longest first (`->`, `<=`, `..`). End: after the last token.
enum class TokenKind : uint8_t { Word, Variable, Function, Shared, Int, Float, String, Punct, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;  ///< as written, with sigil and quotes; a view into the source text
  size_t offset = 0;      ///< of `text` in the source
  Loc loc;
  bool starts_line = false;

  /// The name without its sigil (Variable, Function, Shared).
  auto name() const -> std::string_view { return text.substr(1); }
  auto end() const -> size_t { return offset + text.size(); }
  auto is(std::string_view word_or_punct) const -> bool {
    return (kind == TokenKind::Word || kind == TokenKind::Punct) && text == word_or_punct;
  }
  /// For messages: the token in backticks, or "the end of the text".
  auto described() const -> std::string;
};

/// Whether `%x` and `@f` are names (IR), or names are plain words and `a%b` is a remainder (pipelines, schedules).
enum class NameStyle : uint8_t { Sigils, Plain };

/// All tokens, the last one being End. `//` starts a comment. The source must outlive the tokens.
/// Errors: parse_unexpected for a character that starts no token and for an unterminated string.
auto lex(std::string_view source, std::string_view file, NameStyle names = NameStyle::Sigils)
    -> Result<std::vector<Token>>;

/// The text behind a String token: escapes are `\"`, `\\`, `\n` and `\t`.
auto string_value(const Token& token) -> std::string;
/// The inverse: `text` in quotes.
auto quoted(std::string_view text) -> std::string;

/// Reads tokens one after the other. Copying it is cheap and gives a second place to read from.
class TokenCursor {
 public:
  explicit TokenCursor(const std::vector<Token>& tokens) : tokens_(&tokens) {}

  /// The token `ahead` places from here (End beyond the end).
  auto peek(size_t ahead = 0) const -> const Token&;
  auto at(std::string_view word_or_punct) const -> bool { return peek().is(word_or_punct); }
  auto at(TokenKind kind) const -> bool { return peek().kind == kind; }
  auto at_end() const -> bool { return at(TokenKind::End); }
  auto loc() const -> const Loc& { return peek().loc; }
  /// Steps over one token and returns it; stays at End.
  auto next() -> const Token&;
  /// Steps over the token if it is this word or punctuation.
  auto accept(std::string_view word_or_punct) -> bool;
  /// Steps over the token, which must be this word or punctuation. Errors: parse_unexpected.
  auto expect(std::string_view word_or_punct) -> Status;
  /// Steps over a token of a kind; `what` says in messages what was expected. Errors: parse_unexpected.
  auto expect(TokenKind kind, std::string_view what) -> Result<Token>;
  /// An Int token, with an optional `-` before it, that fits int64. Errors: parse_unexpected, parse_number.
  auto expect_integer(std::string_view what) -> Result<int64_t>;
  /// The first line of a text form: `drawloom-ir 1` for the form `ir` in version 1. Errors: parse_version.
  auto expect_version(std::string_view form, int version) -> Status;
  /// parse_unexpected here: expected `what`, found the next token.
  auto unexpected(std::string_view what) const -> Diag;

 private:
  const std::vector<Token>* tokens_;
  size_t at_ = 0;
};

/// The magnitude of an Int token; false when it does not fit 64 bits.
auto parse_magnitude(std::string_view text, uint64_t& out) -> bool;

}  // namespace drawloom
