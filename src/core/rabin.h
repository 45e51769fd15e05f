/*
 * rabin.h
 *	  Rabin fingerprints: a byte string as a polynomial over GF(2), modulo an
 *	  irreducible one (Rabin 1981).
 *
 * The first byte holds the highest coefficients. Nothing is added before or
 * after: at most degree / 8 bytes are their own fingerprint, and leading zero
 * bytes make no difference.
 */
#ifndef SIMDUP_CORE_RABIN_H
#define SIMDUP_CORE_RABIN_H

#include <stddef.h>
#include <stdint.h>

/* modulo x^32 + x^7 + x^3 + x^2 + 1 */
extern uint32_t simdup_rabin32(const void *bytes, size_t len);

/* modulo x^64 + x^4 + x^3 + x + 1 */
extern uint64_t simdup_rabin64(const void *bytes, size_t len);

#endif /* SIMDUP_CORE_RABIN_H */
