/*
 * field.h
 *	  Short fields of a row, folded as profile 1 and as profile 2 compare them,
 *	  and their masks.
 */
#ifndef SIMDUP_CORE_FINGERPRINT_FIELD_H
#define SIMDUP_CORE_FINGERPRINT_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "core/unicode/charclass.h"

/* Folding makes at most this many bytes of each byte of a field. */
#define SIMDUP_FIELD_GROWTH SIMDUP_MAX_UTF8

/*
 * Write the field to out: its characters in lower case, without the white
 * space around them. Bytes that are not UTF-8 stay as they are. Returns the
 * length, which is 0 for a blank field. out has room for SIMDUP_FIELD_GROWTH
 * bytes for each byte of the field.
 */
extern size_t simdup_lower_field(const char *field, size_t len, char *out);

/*
 * Return a field of a row, folded, with white space trimmed and each run of it
 * inside as one blank. The bytes are allocated, and *folded_len is their
 * number.
 */
extern char *simdup_fold_field(const char *text, size_t len,
							   size_t *folded_len);

/* The most bits of a field's mask. */
#define SIMDUP_MAX_FIELD_BITS 32

/*
 * Return the mask of field number of a row, from 1: n_bits bits that depend on
 * the folded field and its number. A blank field has none. The masks of two
 * different fields have 2 n_bits - n_bits^2 / 32 bits apart on average.
 */
extern uint64_t simdup_field_mask(const char *text, size_t len, uint32_t number,
								  int n_bits);

#endif /* SIMDUP_CORE_FINGERPRINT_FIELD_H */
