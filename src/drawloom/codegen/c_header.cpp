#include "drawloom/codegen/c_header.h"

#include "drawloom/support/text.h"

namespace drawloom {
namespace {

auto c_type(Type t) -> std::string {
  if (t.is_float()) return t.bits == 32 ? "float" : "double";
  if (t.is_bool()) return "uint8_t";
  return str("{}int{}_t", t.is_uint() ? "u" : "", static_cast<int>(t.bits));
}

/// Letters, digits and underscores of a name; a name that is no C identifier gets others for the rest.
auto c_word(std::string_view name) -> std::string {
  std::string out;
  for (char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (out.empty() && digit) out += '_';
    out += letter || digit ? c : '_';
  }
  return out;
}

auto parameter(const Argument& a) -> std::string {
  if (const auto* s = std::get_if<ScalarArgument>(&a))
    return str("{} {}", c_type(s->symbol->type), c_word(s->symbol->name));
  const auto& b = std::get<BufferArgument>(a);
  // A pipeline may mark an output as newer than its device copy; inputs stay as they are.
  const char* constant = b.role == ArgumentRole::Input ? "const " : "";
  return str("{}drawloom_buffer_t* {}", constant, c_word(b.buffer->name));
}

auto argument_words(const Argument& a) -> std::string {
  if (const auto* s = std::get_if<ScalarArgument>(&a)) {
    std::string range;
    if (s->symbol->min) range += str(", at least {}", *s->symbol->min);
    if (s->symbol->max) range += str(", at most {}", *s->symbol->max);
    return str("///   {}: {}{}\n", c_word(s->symbol->name), s->symbol->type, range);
  }
  const auto& b = std::get<BufferArgument>(a);
  return str("///   {}: {} of {}, {} dimensions\n", c_word(b.buffer->name),
             b.role == ArgumentRole::Input ? "input" : "output", b.buffer->element, b.buffer->rank);
}

auto declaration(const Program& p) -> std::string {
  std::string words, parameters = "drawloom_context_t* ctx", slots;
  for (const Argument& a : p.arguments) {
    words += argument_words(a);
    parameters += ", " + parameter(a);
  }
  return str(
      "/// 0, or a code of drawloom/error_codes.def; ctx may be null.\n{}int {}({});\n"
      "/// The same, args[i] being the buffer or pointing to the scalar.\n"
      "int {}_argv(drawloom_context_t* ctx, void** args);\n\n",
      words, p.name, parameters, p.name);
}

}  // namespace

auto c_header(const std::vector<Program>& programs, std::string_view guard) -> std::string {
  const std::string word = str("DRAWLOOM_PIPELINE_{}_H", c_word(guard));
  std::string out = str(
      "#ifndef {}\n#define {}\n\n#include \"drawloom/runtime.h\"\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
      word, word);
  for (const Program& p : programs) out += declaration(p);
  return out + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace drawloom
