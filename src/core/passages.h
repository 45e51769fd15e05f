/*
 * passages.h
 *	  The passages that a text has alone, or in common with others.
 *
 * Texts are compared word by word, folded as minhash64 folds them. In scripts
 * without blanks, each character is a word. A word is shared if the other text has
 * a run of SIMDUP_PASSAGE_RUN words around it, within its sentence. In a shorter
 * sentence, it is shared if the other text has the whole sentence.
 */
#ifndef SIMDUP_CORE_PASSAGES_H
#define SIMDUP_CORE_PASSAGES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Words in a row that say the same in two texts. Some sentences of unrelated
 * letters hold such a run by chance: .4 % in Chinese and .06 % in English with
 * five words, 2.4 % and .2 % with four.
 */
#define SIMDUP_PASSAGE_RUN 5

/* Bytes of a text, from its first word on and with the marks around its words. */
typedef struct SimdupPassage
{
	size_t from;
	size_t to;
} SimdupPassage;

/* A text in UTF-8. */
typedef struct SimdupPassageText
{
	const char *bytes;
	size_t len;
} SimdupPassageText;

/*
 * Return the passages of a text that the other text does not have, in order, as
 * an allocated list of *n. NULL if there are too many words.
 */
extern SimdupPassage *simdup_own_passages(SimdupPassageText text,
										  SimdupPassageText other, size_t *n);

/*
 * Return the passages of the first of n_texts texts that at least the share of
 * them have, in the same form.
 */
extern SimdupPassage *simdup_common_passages(const SimdupPassageText *texts,
											 size_t n_texts, double share,
											 size_t *n);

#endif /* SIMDUP_CORE_PASSAGES_H */
