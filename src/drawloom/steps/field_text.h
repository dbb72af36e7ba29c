#pragma once
/// Text of the field types that steps are made of. A new step needs nothing here unless it brings a new type.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drawloom/steps/step.h"
#include "drawloom/support/lexer.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// Reads the tokens of one step: those up to the next line.
class StepCursor {
 public:
  /// `start`: where the text begins, if it is a piece of something else; then the tokens' own places count from there.
  explicit StepCursor(TokenCursor& tokens, const Loc* start = nullptr) : tokens_(&tokens), start_(start) {}

  auto at_end() const -> bool;
  /// Steps over `words`, tokens of one line, if they come next.
  auto take(std::string_view words) -> bool;
  /// The name that comes next, or empty.
  auto take_name() -> std::string;
  /// An integer literal; nullopt when none comes next. Errors: parse_number when it does not fit 64 bits.
  auto take_integer() -> Result<std::optional<int64_t>>;
  /// All that is left of the line, without blanks.
  auto take_rest() -> std::string;
  auto loc() const -> Loc;
  /// "expected `what`, found ..." here.
  auto unexpected(std::string_view what) const -> Diag;

 private:
  auto loc_of(const Token& token) const -> Loc;
  void step_over();
  TokenCursor* tokens_;
  const Loc* start_;
  Loc last_end_;
  bool moved_ = false;
};

/// The step that comes next, on one line. Errors: as parse_step of schedule.h.
auto read_step(StepCursor& in) -> Result<Step>;

auto field_text(const std::string& v) -> std::string;
auto field_text(const std::vector<std::string>& v) -> std::string;
auto field_text(const StageName& v) -> std::string;
auto field_text(const LoopName& v) -> std::string;
auto field_text(const Amount& v) -> std::string;
auto field_text(const Tail& v) -> std::string;
auto field_text(int64_t v) -> std::string;
auto field_text(WarmUp v) -> std::string;
auto field_text(PartitionMode v) -> std::string;
auto field_text(MemoryKind v) -> std::string;

auto read_field(StepCursor& in, std::string& v) -> Status;
auto read_field(StepCursor& in, std::vector<std::string>& v) -> Status;
auto read_field(StepCursor& in, StageName& v) -> Status;
auto read_field(StepCursor& in, LoopName& v) -> Status;
auto read_field(StepCursor& in, Amount& v) -> Status;
auto read_field(StepCursor& in, Tail& v) -> Status;
auto read_field(StepCursor& in, int64_t& v) -> Status;
auto read_field(StepCursor& in, WarmUp& v) -> Status;
auto read_field(StepCursor& in, PartitionMode& v) -> Status;
auto read_field(StepCursor& in, MemoryKind& v) -> Status;

/// `word` is none of `known`: parse_unknown_name, with the nearest as help.
auto unknown_word(std::string_view what, const std::string& word, const std::vector<std::string>& known, const Loc& loc)
    -> Diag;
/// Names of Funcs, loops and parameters: a letter or `_`, then letters, digits and `_`.
auto is_name(std::string_view text) -> bool;

}  // namespace drawloom
