/// Tokens, their places, and the cursor's errors.

#include "drawloom/support/lexer.h"

#include <catch2/catch.hpp>

namespace drawloom {
namespace {

auto kinds_and_texts(std::string_view source, NameStyle names = NameStyle::Sigils) -> std::string {
  constexpr const char* kNames[] = {"word", "var", "func", "shared", "int", "float", "string", "punct", "end"};
  std::string out;
  for (const auto& t : lex(source, "t", names).value()) out += str("{}<{}> ", kNames[static_cast<int>(t.kind)], t.text);
  return out;
}

TEST_CASE("tokens of every kind", "[support][lexer]") {
  CHECK(kinds_and_texts("blur %f.x @g #12 7 0xfF 1.5 2e-3 1e5 \"a\\\"b\" -> <= ..") ==
        "word<blur> var<%f.x> func<@g> shared<#12> int<7> int<0xfF> float<1.5> float<2e-3> float<1e5> "
        "string<\"a\\\"b\"> punct<->> punct<<=> punct<..> end<> ");
  CHECK(kinds_and_texts("f.x 1..2 3.x 4ex") ==
        "word<f> punct<.> word<x> int<1> punct<..> int<2> int<3> punct<.> word<x> int<4> word<ex> end<> ");
  CHECK(kinds_and_texts("a%b // rest\n%c.") == "word<a> var<%b> var<%c> punct<.> end<> ");
  CHECK(kinds_and_texts("a%b@c", NameStyle::Plain) == "word<a> punct<%> word<b> punct<@> word<c> end<> ");
  CHECK(kinds_and_texts("") == "end<> ");
}

TEST_CASE("tokens know their places", "[support][lexer]") {
  const auto tokens = lex("a b\n  // c\n  d", "file.dl").value();
  REQUIRE(tokens.size() == 4);
  CHECK(tokens[0].loc.text() == "file.dl:1:1");
  CHECK(tokens[1].loc.text() == "file.dl:1:3");
  CHECK(tokens[2].loc.text() == "file.dl:3:3");
  CHECK(tokens[0].starts_line);
  CHECK_FALSE(tokens[1].starts_line);
  CHECK(tokens[2].starts_line);
  CHECK(tokens[1].offset == 2);
}

TEST_CASE("what is no token is an error with a place", "[support][lexer]") {
  CHECK(lex("a\n $", "t").diag().text() == "t:2:2: error: expected a token, found `$` [parse_unexpected]");
  CHECK(lex("\"abc", "t").diag().loc().text() == "t:1:1");
  CHECK(lex("\"abc\\", "t").diag().kind() == DiagKind::parse_unexpected);
  CHECK(lex("\"ab\nc\"", "t").diag().kind() == DiagKind::parse_unexpected);
}

TEST_CASE("strings survive quoting", "[support][lexer]") {
  for (const std::string text : {"", "plain", "a \"quote\"", "back\\slash", "line\nand\ttab", "{}"}) {
    const auto source = quoted(text);
    const auto tokens = lex(source, "t").value();
    REQUIRE(tokens.size() == 2);
    CHECK(string_value(tokens[0]) == text);
  }
}

TEST_CASE("the cursor reads, peeks and explains", "[support][lexer]") {
  const auto tokens = lex("for %x = -5 99999999999999999999", "t").value();
  TokenCursor in(tokens);
  CHECK(in.at("for"));
  CHECK(in.peek(1).name() == "x");
  CHECK(in.peek(99).kind == TokenKind::End);
  CHECK_FALSE(in.accept("if"));
  CHECK(in.accept("for"));
  CHECK(in.expect("=").diag().text() == "t:1:5: error: expected `=`, found `%x` [parse_unexpected]");
  CHECK(in.expect(TokenKind::Variable, "a name").value().text == "%x");
  CHECK(in.expect("=").ok());
  CHECK(in.expect_integer("a number").value() == -5);
  CHECK(in.expect_integer("a number").diag().kind() == DiagKind::parse_number);
  CHECK(in.at_end());
  CHECK(in.expect_integer("a number").diag().message() == "expected a number, found the end of the text");
  in.next();
  CHECK(in.at_end());
}

TEST_CASE("integers at the edge of 64 bits", "[support][lexer]") {
  const auto read = [](std::string_view text) {
    const auto tokens = lex(text, "t").value();
    return TokenCursor(tokens).expect_integer("a number");
  };
  CHECK(read("9223372036854775807").value() == INT64_MAX);
  CHECK(read("-9223372036854775808").value() == INT64_MIN);
  CHECK_FALSE(read("9223372036854775808").ok());
  CHECK_FALSE(read("-9223372036854775809").ok());
  CHECK(read("-0x10").value() == -16);
  CHECK_FALSE(read("0x").ok());
}

TEST_CASE("the version line", "[support][lexer]") {
  const auto read = [](std::string_view text) {
    const auto tokens = lex(text, "t").value();
    return TokenCursor(tokens).expect_version("schedule", 1);
  };
  CHECK(read("drawloom-schedule 1 for blur").ok());
  CHECK(read("drawloom-schedule 2").diag().text() ==
        "t:1:1: error: unknown version `drawloom-schedule 2`; this build reads `drawloom-schedule 1` [parse_version]");
  CHECK(read("drawloom-ir 1").diag().kind() == DiagKind::parse_version);
  CHECK(read("").diag().kind() == DiagKind::parse_version);
}

}  // namespace
}  // namespace drawloom
