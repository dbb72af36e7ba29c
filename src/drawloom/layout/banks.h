#pragma once
/// Bank conflicts of shared memory accesses, counted and certified.
///
/// Shared memory has 32 banks of 4 bytes; a warp's access of w bytes a lane runs in phases of 128/w lanes (32 for w <=
/// 4, 16, 8). A phase takes as many wavefronts as its busiest bank has different words: its *degree*, 1 when free of
/// conflicts. (Lanes that read the same word are served together.)
///
/// Counting works for every layout. Where the lanes of a phase reach the address linearly over F2 the degree also
/// follows from two ranks: 2^rank(address) different addresses fall on 2^rank(bank) banks, evenly. Everything that does
/// not depend on the lane (register, warp, start of the tile) shifts or XORs all lanes alike and changes nothing. That
/// pair of ranks is the certificate.

#include "drawloom/layout/layout.h"

namespace drawloom {

inline constexpr int64_t kBankBytes = 4, kBanks = 32, kWarpLanes = 32;

struct BankCertificate {
  int address_rank, bank_rank;
  auto degree() const -> int64_t { return int64_t{1} << (address_rank - bank_rank); }
};

struct BankReport {
  int64_t width;         ///< bytes per lane
  int64_t instructions;  ///< warp-wide accesses counted
  int64_t phases;        ///< phases of all of them: the wavefronts without a conflict
  int64_t wavefronts;    ///< summed over all phases
  int64_t worst;         ///< largest degree of a phase
  std::optional<BankCertificate> certificate;

  auto is_free() const -> bool { return wavefronts == phases; }
  /// `16 B x 8 lanes: 1-way (rank 3 of 3)`.
  auto text() const -> std::string;
};

/// `access`: (lane, others) -> (byte); each combination of the others is one access of a warp, `width` bytes a lane.
/// Fewer than 32 lanes: the others are off. Refused: width not 1, 2, 4, 8, 16; no Dim `lane` of at most 32, or an
/// output other than `byte`; an address that is no multiple of the width.
auto bank_conflicts(const Layout& access, int64_t width) -> Maybe<BankReport>;

/// A register layout over bytes, cut into instructions.
struct VectorAccess {
  int64_t width;     ///< bytes per lane
  Layout registers;  ///< (vector, step) -> (register): which registers one instruction moves, lowest address first
  Layout bytes;      ///< (step, lane, others) -> (byte): where it starts
};

/// Finds the register digits that run through contiguous bytes, up to `max_width` bytes in all, and puts them into
/// `vector`; the other register digits become `step`. `access`: (register, lane, others) -> (byte).
/// Refused: an output other than `byte`.
auto vector_access(const Layout& access, int64_t element_bytes, int64_t max_width) -> Maybe<VectorAccess>;

}  // namespace drawloom
