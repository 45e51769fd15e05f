/*
 * field.h
 *	  A short field of a row as one feature of its fingerprint.
 */
#ifndef SIMDUP_TEXT_FIELD_H
#define SIMDUP_TEXT_FIELD_H

#include "text/profile.h"

/* The argument field_weight; NULL and negative values are errors. */
extern uint64 simdup_get_field_weight(FunctionCallInfo fcinfo, int argno);

/*
 * Add a field, folded and without the white space around it, as one feature;
 * a blank one adds nothing.
 */
extern void simdup_add_field(SimdupUtf8 field, uint64 weight, SimdupHash hash,
							 SimdupSum *sum);

#endif /* SIMDUP_TEXT_FIELD_H */
