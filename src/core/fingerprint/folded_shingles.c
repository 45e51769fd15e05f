/*
 * folded_shingles.c
 *	  One pass over a text: folding, units, shingles.
 *
 * Units are written one after another to a buffer, which is emptied down to the
 * last w - 1 of them whenever it is full. A shingle is a stretch of the buffer.
 */
#include "core/fingerprint/folded_shingles.h"

#include <string.h>

#include "core/fingerprint/hash.h"
#include "core/host.h"
#include "core/unicode/charclass.h"

/* Units in a full buffer. All arrays together fit the first-level cache. */
#define FULL_UNITS 512

/* Bytes in a full buffer of words. */
#define FULL_BYTES (1 << 16)

/* Most units that one code point adds, and those kept of the past. */
#define SPARE_UNITS (SIMDUP_MAX_FOLDED + SIMDUP_MAX_FOLDED_W + 2)

typedef struct FoldedUnits
{
	SimdupFoldedSink sink;
	void *arg;
	size_t w;
	bool any; /* a shingle was handed on */
	char *bytes;
	size_t used;
	size_t size;
	size_t n; /* units that are complete */
	size_t starts[FULL_UNITS + SPARE_UNITS];
	size_t ends[FULL_UNITS + SPARE_UNITS];
} FoldedUnits;

static void
units_begin(FoldedUnits *units, int w, SimdupFoldedSink sink, void *arg)
{
	units->sink = sink;
	units->arg = arg;
	units->w = w > 1 ? (size_t) w : 1;
	units->any = false;
	units->size = (FULL_UNITS + SPARE_UNITS) * SIMDUP_MAX_UTF8;
	units->bytes = simdup_alloc(units->size);
	units->used = 0;
	units->n = 0;
}

/* Hand on the shingles of all units, then keep only those still needed. */
static void
units_flush(FoldedUnits *units)
{
	size_t past; /* units that no further shingle needs */
	size_t from;

	simdup_check_interrupts();
	if (units->n < units->w)
		return;
	past = units->n - units->w + 1;
	units->sink(units->arg, units->bytes, units->starts,
				units->ends + units->w - 1, past);
	units->any = true;
	units->n -= past;
	from = units->n > 0 ? units->starts[past] : units->used;
	memmove(units->bytes, units->bytes + from, units->used - from);
	units->used -= from;
	for (size_t i = 0; i < units->n; i++)
	{
		units->starts[i] = units->starts[past + i] - from;
		units->ends[i] = units->ends[past + i] - from;
	}
}

/* End the text: a text shorter than a shingle is one shingle. */
static void
units_end(FoldedUnits *units)
{
	units_flush(units);
	if (!units->any && units->n > 0)
		units->sink(units->arg, units->bytes, units->starts,
					units->ends + units->n - 1, 1);
	simdup_free(units->bytes);
}

/* Characters */

static inline void
add_char(FoldedUnits *units, uint32_t cp)
{
	units->starts[units->n] = units->used;
	units->used +=
		simdup_utf8_encode(cp, (unsigned char *) units->bytes + units->used);
	units->ends[units->n++] = units->used;
}

/* Add the folded form of a code point that no fast path takes. */
static void
add_folded_chars(FoldedUnits *units, uint32_t cp)
{
	SimdupFoldProperty property =
		simdup_fold_properties[simdup_fold_number(cp)];

	if (property.n == 1)
	{
		if (property.char_class != SIMDUP_CHAR_SEPARATOR)
			add_char(units, (uint32_t) ((int32_t) cp + property.value));
		return;
	}
	for (int i = 0; i < property.n; i++)
	{
		uint32_t e = simdup_fold_expansions[property.value + i];

		if (SIMDUP_EXPANSION_CLASS(e) != SIMDUP_CHAR_SEPARATOR)
			add_char(units, SIMDUP_EXPANSION_CHAR(e));
	}
}

/* ASCII letters in lower case, digits; 0 for separators. */
static const char ascii_folded[128] =
	{['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4',
	 ['5'] = '5', ['6'] = '6', ['7'] = '7', ['8'] = '8', ['9'] = '9',
	 ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd', ['E'] = 'e',
	 ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i', ['J'] = 'j',
	 ['K'] = 'k', ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o',
	 ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r', ['S'] = 's', ['T'] = 't',
	 ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x', ['Y'] = 'y',
	 ['Z'] = 'z', ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd',
	 ['e'] = 'e', ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i',
	 ['j'] = 'j', ['k'] = 'k', ['l'] = 'l', ['m'] = 'm', ['n'] = 'n',
	 ['o'] = 'o', ['p'] = 'p', ['q'] = 'q', ['r'] = 'r', ['s'] = 's',
	 ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x',
	 ['y'] = 'y', ['z'] = 'z'};

/* Add characters from p on while they are ASCII. Returns where it stopped. */
static inline const unsigned char *
add_ascii(FoldedUnits *units, const unsigned char *p, const unsigned char *end)
{
	size_t n = units->n;
	size_t used = units->used;

	for (; p < end && *p < 0x80 && n < FULL_UNITS; p++)
	{
		char c = ascii_folded[*p];
		bool is_unit = c != 0;

		/* no branch: blanks and stops can't be foreseen */
		units->bytes[used] = c;
		units->starts[n] = used;
		used += is_unit;
		units->ends[n] = used;
		n += is_unit;
	}
	units->n = n;
	units->used = used;
	return p;
}

/*
 * Add characters from p on while they are of U+4E00 to U+9FFF and fold to
 * themselves: the bulk of Chinese text. Returns where it stopped.
 */
static inline const unsigned char *
add_han(FoldedUnits *units, const unsigned char *p, const unsigned char *end)
{
	size_t n = units->n;
	size_t used = units->used;

	for (; end - p >= 3 && n < FULL_UNITS; p += 3)
	{
		uint32_t cp = (uint32_t) (p[0] & 0x0F) << 12 |
					  (uint32_t) (p[1] & 0x3F) << 6 | (p[2] & 0x3F);

		if ((p[0] & 0xF0) != 0xE0 || (p[1] & 0xC0) != 0x80 ||
			(p[2] & 0xC0) != 0x80 || cp - 0x4E00 > 0x9FFF - 0x4E00 ||
			!simdup_is_same_han(cp))
			break;
		memcpy(units->bytes + used, p, 3);
		units->starts[n] = used;
		used += 3;
		units->ends[n++] = used;
	}
	units->n = n;
	units->used = used;
	return p;
}

static void
char_shingles(FoldedUnits *units, const unsigned char *p,
			  const unsigned char *end)
{
	const unsigned char *look = p + SIMDUP_LOOK_BYTES;
	int len;

	while (p < end)
	{
		if (*p < 0x80)
			p = add_ascii(units, p, end);
		else
		{
			const unsigned char *start = p;

			p = add_han(units, p, end);
			if (p == start)
			{
				add_folded_chars(units, simdup_utf8_decode(p, end, &len));
				p += len;
			}
		}
		if (units->n >= FULL_UNITS)
			units_flush(units);
		/* separators fill nothing, but take time */
		look = simdup_look(p, look);
	}
}

/* Add all characters but white space, unchanged. */
static void
raw_shingles(FoldedUnits *units, const unsigned char *p,
			 const unsigned char *end)
{
	const unsigned char *look = p + SIMDUP_LOOK_BYTES;
	int len;

	for (; p < end; p += len)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &len);

		if (cp != SIMDUP_INVALID_CHAR && !simdup_is_white_space(cp))
			add_char(units, cp);
		if (units->n >= FULL_UNITS)
			units_flush(units);
		look = simdup_look(p, look);
	}
}

/* Words */

typedef struct FoldedWords
{
	FoldedUnits units;
	SimdupCharClass run;		/* class of the run that the text is in */
	bool alone;					/* the run is one unsegmented character */
	char last[SIMDUP_MAX_UTF8]; /* unsegmented character before */
	int last_len;
} FoldedWords;

/* Begin a word, behind a blank; the one before it is complete. */
static inline void
begin_word(FoldedUnits *units)
{
	if (units->n >= FULL_UNITS || units->used >= FULL_BYTES)
		units_flush(units);
	if (units->n > 0)
		units->bytes[units->used++] = ' ';
	units->starts[units->n] = units->used;
}

/* Append to the word; there is room for a blank and a character behind it. */
static inline void
append_to_word(FoldedUnits *units, const char *bytes, int len)
{
	size_t needed = units->used + 3 * SIMDUP_MAX_UTF8;

	if (needed > units->size)
		units->bytes = simdup_grow(units->bytes, &units->size, needed, 1);
	memcpy(units->bytes + units->used, bytes, (size_t) len);
	units->used += (size_t) len;
}

static inline void
end_word(FoldedUnits *units)
{
	units->ends[units->n++] = units->used;
}

/* End the run of characters of one class. */
static inline void
end_run(FoldedWords *words)
{
	if (words->run == SIMDUP_CHAR_SEGMENTED)
		end_word(&words->units);
	else if (words->run == SIMDUP_CHAR_UNSEGMENTED && words->alone)
	{
		begin_word(&words->units);
		append_to_word(&words->units, words->last, words->last_len);
		end_word(&words->units);
	}
	words->run = SIMDUP_CHAR_SEPARATOR;
}

static void
add_unsegmented(FoldedWords *words, const char *bytes, int len)
{
	words->alone = words->run != SIMDUP_CHAR_UNSEGMENTED;
	if (words->alone)
		end_run(words);
	else
	{
		begin_word(&words->units);
		append_to_word(&words->units, words->last, words->last_len);
		append_to_word(&words->units, bytes, len);
		end_word(&words->units);
	}
	words->run = SIMDUP_CHAR_UNSEGMENTED;
	memcpy(words->last, bytes, (size_t) len);
	words->last_len = len;
}

/* Add the next character of the folded text. */
static inline void
add_to_words(FoldedWords *words, uint32_t cp, SimdupCharClass char_class)
{
	char bytes[SIMDUP_MAX_UTF8];
	int len;

	if (char_class == SIMDUP_CHAR_SEPARATOR)
	{
		end_run(words);
		return;
	}
	len = simdup_utf8_encode(cp, (unsigned char *) bytes);
	if (char_class == SIMDUP_CHAR_UNSEGMENTED)
	{
		add_unsegmented(words, bytes, len);
		return;
	}
	if (words->run != SIMDUP_CHAR_SEGMENTED)
	{
		end_run(words);
		begin_word(&words->units);
		words->run = SIMDUP_CHAR_SEGMENTED;
	}
	append_to_word(&words->units, bytes, len);
}

static void
word_shingles(FoldedWords *words, const unsigned char *p,
			  const unsigned char *end)
{
	const unsigned char *look = p + SIMDUP_LOOK_BYTES;
	int len;

	words->run = SIMDUP_CHAR_SEPARATOR;
	for (; p < end; p += len)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &len);
		SimdupFoldProperty property =
			simdup_fold_properties[simdup_fold_number(cp)];

		if (property.n == 1)
			add_to_words(words, (uint32_t) ((int32_t) cp + property.value),
						 (SimdupCharClass) property.char_class);
		else
			for (int i = 0; i < property.n; i++)
			{
				uint32_t e = simdup_fold_expansions[property.value + i];

				add_to_words(words, SIMDUP_EXPANSION_CHAR(e),
							 SIMDUP_EXPANSION_CLASS(e));
			}
		look = simdup_look(p, look);
	}
	end_run(words);
}

void
simdup_folded_shingles(SimdupShingling shingling, const char *text, size_t len,
					   SimdupFoldedSink sink, void *arg)
{
	const unsigned char *p = (const unsigned char *) text;
	FoldedWords words;

	units_begin(&words.units, shingling.w, sink, arg);
	switch (shingling.unit)
	{
		case SIMDUP_SHINGLE_CHAR:
			char_shingles(&words.units, p, p + len);
			break;
		case SIMDUP_SHINGLE_WORD:
			word_shingles(&words, p, p + len);
			break;
		case SIMDUP_SHINGLE_RAW:
			raw_shingles(&words.units, p, p + len);
			break;
	}
	units_end(&words.units);
}

/* Elements */

typedef struct ElementSink
{
	SimdupElementSink sink;
	void *arg;
} ElementSink;

/* A SimdupFoldedSink. */
static void
hash_shingles(void *arg, const char *bytes, const size_t *starts,
			  const size_t *ends, size_t n)
{
	const ElementSink *elements = arg;
	uint64_t hashes[FULL_UNITS + SPARE_UNITS];

	for (size_t i = 0; i < n; i++)
		hashes[i] = simdup_city64(bytes + starts[i], ends[i] - starts[i]);
	elements->sink(elements->arg, hashes, n);
}

void
simdup_folded_elements(SimdupShingling shingling, const char *text, size_t len,
					   SimdupElementSink sink, void *arg)
{
	ElementSink elements = {sink, arg};

	simdup_folded_shingles(shingling, text, len, hash_shingles, &elements);
}
