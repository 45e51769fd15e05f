/*
 * encoding.h
 *	  Text of the database's encoding as UTF-8, and back. The passages of a text as
 *	  one text, and its words by ICU.
 */
#ifndef SIMDUP_TEXT_ENCODING_H
#define SIMDUP_TEXT_ENCODING_H

#include "utils/array.h"

#include "core/compare/passages.h"
#include "core/fingerprint/tokenizer.h"
#include "core/unicode/charclass.h"

/* The byte for a character that Unicode does not have; no UTF-8 sequence has it. */
#define SIMDUP_NO_CHARACTER 0xFF

/*
 * Return a text in the database's encoding as UTF-8. SQL_ASCII says nothing about
 * its bytes, so they are taken as they are. A character that Unicode does not
 * have becomes a byte that separates.
 */
extern SimdupUtf8 simdup_text_to_utf8(const text *value);
extern SimdupUtf8 simdup_bytes_to_utf8(const char *bytes, size_t len);

/* Return the texts of an array, and their number, without its NULLs. */
extern SimdupUtf8 *simdup_utf8_texts(ArrayType *array, size_t *n);

/*
 * Return UTF-8 as a text in the database's encoding, with ? for characters that it lacks.
 */
extern text *simdup_utf8_to_text(const char *bytes, size_t len);

/*
 * Return the passages of a text as one text. Raise 54000 if they are NULL: the text
 * has too many words.
 */
extern SimdupUtf8 simdup_join_passages(SimdupUtf8 content,
									   const SimdupPassage *passages, size_t n,
									   const char *between);

/* Raise 54000 for a text with too many words for its passages. */
pg_noreturn extern void simdup_too_many_words(void);

/* Check whether texts are UTF-8, or taken as it. */
extern bool simdup_is_utf8(void);

/* Encode a character in the database's encoding: a SimdupHtmlEncode. */
extern size_t simdup_encode_char(void *arg, uint32_t code_point, char *out);

/*
 * Return ICU's word breaks for a locale, for the current call: a session has few of
 * them, and one may become another locale's. Raises 22023 for a name that is no
 * locale, 0A000 where simdup was built without ICU.
 */
extern SimdupBreaker simdup_get_icu_breaker(const char *locale);

#endif /* SIMDUP_TEXT_ENCODING_H */
