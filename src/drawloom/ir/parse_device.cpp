#include "drawloom/ir/parse_device.h"

#include <limits>

#include "drawloom/ir/type_rules.h"

namespace drawloom {
namespace {

constexpr std::pair<std::string_view, SyncKind> kSyncs[] = {
#define SYNC(name, text) {text, SyncKind::name},
#include "drawloom/ir/device.def"
};
constexpr std::pair<std::string_view, FenceKind> kFences[] = {
#define FENCE(name, text, ptx) {text, FenceKind::name},
#include "drawloom/ir/device.def"
};
constexpr std::pair<std::string_view, AsyncGroup> kGroups[] = {
#define ASYNC_GROUP(name, text, commit, wait) {text, AsyncGroup::name},
#include "drawloom/ir/device.def"
};

auto small_integer(TokenCursor& in, std::string_view what) -> Result<int> {
  const Token token = in.peek();
  DRAWLOOM_TRY(const int64_t value, in.expect_integer(what));
  if (value < 0 || value > std::numeric_limits<int>::max()) return Diag(DiagKind::parse_number, token.loc, value, what);
  return static_cast<int>(value);
}

/// Reads the statements of one line, each by a function named as its first word.
class DeviceParser {
 public:
  DeviceParser(TokenCursor& in, ExprParser& exprs, const Loc& loc) : in_(in), exprs_(exprs), loc_(loc) {}

  auto sync() -> Result<Stmt> {
    DRAWLOOM_TRY(const auto how, one_of(kSyncs, "a kind of barrier"));
    Expr id;
    int threads = 0;
    if (how == SyncKind::Named || how == SyncKind::Arrive) {
      DRAWLOOM_TRY(id, exprs_.expr());
      DRAWLOOM_REQUIRE(in_.expect("threads"));
      DRAWLOOM_TRY(threads, small_integer(in_, "number of threads"));
    }
    return try_make<Sync>(how, std::move(id), threads, loc_);
  }
  auto init() -> Result<Stmt> {
    DRAWLOOM_TRY(auto e, barrier());
    DRAWLOOM_TRY(auto count, said("count"));
    return try_make<Init>(e.buffer, std::move(e.index), std::move(count), loc_);
  }
  auto arrive() -> Result<Stmt> {
    DRAWLOOM_TRY(auto e, barrier());
    DRAWLOOM_TRY(auto count, said("count"));
    Expr bytes, rank;
    if (in_.at("bytes")) {
      DRAWLOOM_TRY(bytes, said("bytes"));
    }
    if (in_.at("rank")) {
      DRAWLOOM_TRY(rank, said("rank"));
    }
    return try_make<Arrive>(e.buffer, std::move(e.index), std::move(count), std::move(bytes), std::move(rank), loc_);
  }
  auto expect() -> Result<Stmt> {
    DRAWLOOM_TRY(auto e, barrier());
    DRAWLOOM_TRY(auto bytes, said("bytes"));
    return try_make<Expect>(e.buffer, std::move(e.index), std::move(bytes), loc_);
  }
  auto wait() -> Result<Stmt> {
    DRAWLOOM_TRY(auto e, barrier());
    DRAWLOOM_TRY(auto parity, said("parity"));
    return try_make<Wait>(e.buffer, std::move(e.index), std::move(parity), in_.accept("cluster"), loc_);
  }
  auto fence() -> Result<Stmt> {
    DRAWLOOM_TRY(const auto how, one_of(kFences, "a kind of fence"));
    return try_make<Fence>(how, loc_);
  }
  auto issue() -> Result<Stmt> {
    DRAWLOOM_TRY(const auto name, in_.expect(TokenKind::String, "the name of an atom in quotes"));
    DRAWLOOM_REQUIRE(in_.expect("("));
    DRAWLOOM_TRY(auto operands, exprs_.expr_list(")"));
    DRAWLOOM_REQUIRE(in_.expect(")"));
    return try_make<Issue>(string_value(name), std::move(operands), loc_);
  }
  auto commit() -> Result<Stmt> {
    DRAWLOOM_TRY(const auto group, one_of(kGroups, "a kind of group"));
    return try_make<Commit>(group, loc_);
  }
  auto wait_group() -> Result<Stmt> {
    DRAWLOOM_TRY(const auto group, one_of(kGroups, "a kind of group"));
    DRAWLOOM_TRY(const int pending, small_integer(in_, "number of pending groups"));
    return try_make<WaitGroup>(group, pending, loc_);
  }
  auto set_registers() -> Result<Stmt> {
    DRAWLOOM_TRY(const int count, small_integer(in_, "number of registers"));
    return try_make<SetRegisters>(count, loc_);
  }

 private:
  auto barrier() -> Result<ElementText> {
    DRAWLOOM_TRY(auto e, exprs_.element());
    if (e.mask || !e.origin.empty())
      return Diag(DiagKind::ir_malformed, loc_, "mbarrier", "it has no mask and no origin");
    return e;
  }
  auto said(std::string_view word) -> Result<Expr> {
    DRAWLOOM_REQUIRE(in_.expect(word));
    return exprs_.expr();
  }
  template <typename E, size_t N>
  auto one_of(const std::pair<std::string_view, E> (&words)[N], std::string_view what) -> Result<E> {
    for (const auto& [text, value] : words) {
      if (in_.accept(text)) return value;
    }
    return in_.unexpected(what);
  }

  TokenCursor& in_;
  ExprParser& exprs_;
  Loc loc_;
};

constexpr std::pair<std::string_view, Result<Stmt> (DeviceParser::*)()> kStatements[] = {
    {"sync", &DeviceParser::sync},
    {"init", &DeviceParser::init},
    {"arrive", &DeviceParser::arrive},
    {"expect", &DeviceParser::expect},
    {"wait", &DeviceParser::wait},
    {"fence", &DeviceParser::fence},
    {"issue", &DeviceParser::issue},
    {"commit", &DeviceParser::commit},
    {"wait_group", &DeviceParser::wait_group},
    {"set_registers", &DeviceParser::set_registers},
};

auto bracketed(std::string_view word, TokenCursor& in, ExprParser& exprs) -> Result<ExprList> {
  DRAWLOOM_REQUIRE(in.expect(word));
  DRAWLOOM_REQUIRE(in.expect("("));
  DRAWLOOM_TRY(auto list, exprs.expr_list(")"));
  DRAWLOOM_REQUIRE(in.expect(")"));
  return list;
}

}  // namespace

auto device_statement(const Token& first, TokenCursor& in, ExprParser& exprs) -> Result<Stmt> {
  for (const auto& [text, read] : kStatements) {
    if (first.is(text)) return (DeviceParser(in, exprs, first.loc).*read)();
  }
  return Stmt();
}

auto launch_head(TokenCursor& in) -> Result<LaunchHead> {
  LaunchHead out;
  DRAWLOOM_TRY(const auto name, in.expect(TokenKind::String, "the name of a kernel in quotes"));
  out.name = string_value(name);
  auto& a = out.attributes;
  if (in.accept("cluster")) {
    DRAWLOOM_TRY(a.cluster_x, small_integer(in, "number of blocks"));
    DRAWLOOM_REQUIRE(in.expect(","));
    DRAWLOOM_TRY(a.cluster_y, small_integer(in, "number of blocks"));
    DRAWLOOM_REQUIRE(in.expect(","));
    DRAWLOOM_TRY(a.cluster_z, small_integer(in, "number of blocks"));
  }
  const std::pair<std::string_view, int*> parts[] = {
      {"shared", &a.shared_bytes}, {"registers", &a.registers}, {"min_blocks", &a.min_blocks}, {"spills", &a.spills}};
  for (const auto& [word, value] : parts) {
    if (!in.accept(word)) continue;
    DRAWLOOM_TRY(*value, small_integer(in, word));
  }
  return out;
}

auto tensor_map_head(TokenCursor& in, ExprParser& exprs) -> Result<TensorMapHead> {
  TensorMapHead out;
  DRAWLOOM_TRY(auto e, exprs.element());
  out.buffer = e.buffer;
  out.shape.base = std::move(e.index);
  DRAWLOOM_TRY(out.shape.dims, bracketed("dims", in, exprs));
  DRAWLOOM_TRY(out.shape.strides, bracketed("strides", in, exprs));
  DRAWLOOM_TRY(out.shape.box, bracketed("box", in, exprs));
  if (in.accept("swizzle")) {
    DRAWLOOM_TRY(out.shape.swizzle, small_integer(in, "bytes of swizzle"));
  }
  if (in.accept("promotion")) {
    DRAWLOOM_TRY(out.shape.promotion, small_integer(in, "bytes of promotion"));
  }
  if (in.accept("fill")) {
    DRAWLOOM_REQUIRE(in.expect("nan"));
    out.shape.fill = TensorFill::Nan;
  }
  return out;
}

}  // namespace drawloom
