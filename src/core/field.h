/*
 * field.h
 *	  A short field of a row, folded as profile 1 compares fields.
 */
#ifndef SIMDUP_CORE_FIELD_H
#define SIMDUP_CORE_FIELD_H

#include <stddef.h>

#include "core/charclass.h"

/* Folding makes at most this many bytes of each byte of a field. */
#define SIMDUP_FIELD_GROWTH SIMDUP_MAX_UTF8

/*
 * Write the field to out: its characters in lower case, without the white
 * space around them. Bytes that are not UTF-8 stay as they are. Returns the
 * length, which is 0 for a blank field. out has room for SIMDUP_FIELD_GROWTH
 * bytes for each byte of the field.
 */
extern size_t simdup_lower_field(const char *field, size_t len, char *out);

#endif /* SIMDUP_CORE_FIELD_H */
