#pragma once
/// Failing cases as files.

#include <cstdint>
#include <string>

namespace drawloom::fuzz {

/// Writes `text` to `folder`/KIND-SEED.dl and returns that path, or words that say why it could not.
auto save_case(const std::string& folder, const std::string& kind, uint64_t seed, const std::string& text)
    -> std::string;

}  // namespace drawloom::fuzz
