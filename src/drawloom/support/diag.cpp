#include "drawloom/support/diag.h"

namespace drawloom {
namespace {

struct KindRow {
  std::string_view name;
  Severity severity;
  std::string_view words;
};

constexpr KindRow kKinds[] = {
#define DIAG(name, severity, words) {#name, Severity::severity, words},
#include "drawloom/support/diags.def"
#undef DIAG
};

auto row(DiagKind kind) -> const KindRow& { return kKinds[static_cast<size_t>(kind)]; }

auto severity_word(Severity s) -> std::string_view {
  switch (s) {
    case Severity::error: return "error";
    case Severity::refused: return "refused";
    case Severity::target_limit: return "target limit";
    case Severity::warning: return "warning";
  }
  return "error";
}

}  // namespace

struct Diag::Body : RefCounted {
  struct Note {
    Loc loc;
    std::string words;
  };
  DiagKind kind;
  Loc loc;
  std::vector<std::string> args;
  std::vector<Note> notes;
  std::string help;
};

void drop_node(const Diag::Body* body) { delete body; }

Diag::Diag(DiagKind kind, Loc loc, std::vector<std::string> args) {
  auto body = make_ref<Body>();
  body->kind = kind;
  body->loc = std::move(loc);
  body->args = std::move(args);
  body_ = body;
}
Diag::Diag(Ref<const Body> body) : body_(std::move(body)) {}
Diag::Diag(const Diag&) = default;
Diag::Diag(Diag&&) noexcept = default;
auto Diag::operator=(Diag other) noexcept -> Diag& {
  std::swap(body_, other.body_);
  return *this;
}
Diag::~Diag() = default;

auto Diag::with_note(Loc loc, std::string words) const -> Diag {
  auto body = make_ref<Body>(*body_);
  body->notes.push_back({std::move(loc), std::move(words)});
  return Diag(Ref<const Body>(body));
}
auto Diag::with_help(std::string words) const -> Diag {
  auto body = make_ref<Body>(*body_);
  body->help = std::move(words);
  return Diag(Ref<const Body>(body));
}
auto Diag::kind() const -> DiagKind { return body_->kind; }
auto Diag::loc() const -> const Loc& { return body_->loc; }
auto Diag::args() const -> const std::vector<std::string>& { return body_->args; }
auto Diag::help() const -> const std::string& { return body_->help; }

auto Diag::message() const -> std::string {
  return format_pieces(row(kind()).words, body_->args.data(), body_->args.size());
}

auto Diag::text() const -> std::string {
  std::string out = str("{}: {}: {} [{}]", loc(), severity_word(severity()), message(), name());
  for (const auto& note : body_->notes) out += str("\n{}: note: {}", note.loc, note.words);
  if (!body_->help.empty()) out += str("\nhelp: {}", body_->help);
  return out;
}

auto diag_name(DiagKind kind) -> std::string_view { return row(kind).name; }
auto diag_severity(DiagKind kind) -> Severity { return row(kind).severity; }
auto all_diag_kinds() -> std::vector<DiagKind> {
  std::vector<DiagKind> out;
  for (size_t i = 0; i < std::size(kKinds); ++i) out.push_back(static_cast<DiagKind>(i));
  return out;
}

}  // namespace drawloom
