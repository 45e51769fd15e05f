/*
 * whitespace.h
 *	  Unicode's White_Space, as of Unicode 15.0.
 */
#ifndef SIMDUP_CORE_WHITESPACE_H
#define SIMDUP_CORE_WHITESPACE_H

#include <stdbool.h>
#include <stdint.h>

static inline bool
simdup_is_white_space(uint32_t cp)
{
	if (cp < 0x80)
		return cp == ' ' || (cp >= '\t' && cp <= '\r');
	return cp == 0x85 || cp == 0xA0 || cp == 0x1680 ||
		   (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 ||
		   cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

#endif /* SIMDUP_CORE_WHITESPACE_H */
