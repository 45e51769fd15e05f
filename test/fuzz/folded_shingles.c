/*
 * folded_shingles.c
 *	  Folded shingles of any text, as strings, and as elements by each set of
 *	  instructions, against windows of its units found character by character.
 *	  Fields of rows, too.
 */
#include "core/fingerprint/hash.h"
#include "core/fingerprint/shingle.h"
#include "core/fingerprint/vectors.h"
#include "core/host.h"
#include "core/unicode/fold.h"
#include "naive.h"

#define MAX_TEXT 200000

typedef struct Shingles
{
	Strings strings;
	uint64_t *hashes;
	size_t n_hashes;
	size_t size;
} Shingles;

/* A SimdupTokenSink. */
static void
collect_strings(void *arg, const SimdupToken *tokens, int n)
{
	Shingles *shingles = arg;

	for (int i = 0; i < n; i++)
		add_string(&shingles->strings, tokens[i].bytes, tokens[i].len);
}

/* A SimdupElementSink. */
static void
collect_hashes(void *arg, const uint64_t *hashes, size_t n)
{
	Shingles *shingles = arg;

	if (shingles->size - shingles->n_hashes < n)
	{
		shingles->size = 2 * shingles->size + n;
		shingles->hashes = checked(
			realloc(shingles->hashes, shingles->size * sizeof(uint64_t)));
	}
	memcpy(shingles->hashes + shingles->n_hashes, hashes, n * sizeof(uint64_t));
	shingles->n_hashes += n;
}

static void
append_char(NaiveChar *chars, size_t *n, uint32_t cp,
			SimdupCharClass char_class)
{
	NaiveChar c = {.cp = cp, .char_class = char_class};

	c.folded_len = simdup_utf8_encode(cp, (unsigned char *) c.folded);
	chars[(*n)++] = c;
}

/* All characters but white space, as they are; the class is of no use. */
static NaiveChar *
naive_raw(const char *text, size_t len, size_t *n)
{
	size_t n_chars;
	NaiveChar *chars = naive_chars(text, len, &n_chars);
	size_t kept = 0;

	for (size_t i = 0; i < n_chars; i++)
		if (chars[i].cp != SIMDUP_INVALID_CHAR && !naive_is_white(chars[i].cp))
		{
			chars[kept] = chars[i];
			chars[kept].char_class = SIMDUP_CHAR_SEGMENTED;
			chars[kept].folded_len = chars[i].len;
			memcpy(chars[kept++].folded, text + chars[i].at,
				   (size_t) chars[i].len);
		}
	*n = kept;
	return chars;
}

typedef struct Pair
{
	uint32_t first;
	uint32_t second;
	uint32_t joined;
} Pair;

/* All pairs of the tables, from the seconds, which fold to themselves. */
static size_t
list_pairs(Pair *pairs)
{
	size_t n = 0;

	for (uint32_t cp = 0; cp < 0x20000; cp++)
	{
		SimdupFoldProperty property =
			simdup_fold_properties[simdup_fold_number(cp)];
		const uint16_t *starts = simdup_fold_starts + property.n;

		if (property.char_class < SIMDUP_FOLD_SECOND ||
			property.n == SIMDUP_FOLD_HANGUL)
			continue;
		for (size_t i = starts[0]; i < starts[1]; i++)
			pairs[n++] =
				(Pair){simdup_fold_firsts[i], cp, simdup_fold_joined[i]};
	}
	return n;
}

/*
 * Put one character for its canonical decomposition, as long as there is
 * any such pair, the leftmost first. Hangul counts as Unicode's data lists it. Marks
 * that are not in their order change places, once.
 */
static void
join_pairs(NaiveChar *chars, size_t *n)
{
	static Pair pairs[1000];
	static size_t n_pairs = 0;

	if (n_pairs == 0)
		n_pairs = list_pairs(pairs);
	for (size_t i = 0; i + 1 < *n;)
	{
		uint32_t first = chars[i].cp;
		uint32_t second = chars[i + 1].cp;
		uint32_t joined = 0;
		size_t used = i;

		for (size_t j = 0; j < n_pairs; j++)
			if (pairs[j].first == first && pairs[j].second == second)
				joined = pairs[j].joined;
		if (first >= 0x1100 && first <= 0x1112 && second >= 0x1161 &&
			second <= 0x1175)
			joined = 0xAC00 + (first - 0x1100) * 588 + (second - 0x1161) * 28;
		if (first >= 0xAC00 && first <= 0xD7A3 && (first - 0xAC00) % 28 == 0 &&
			second >= 0x11A8 && second <= 0x11C2)
			joined = first + second - 0x11A7;
		if (joined == SIMDUP_FOLD_EXCHANGE)
		{
			NaiveChar before = chars[i];

			chars[i] = chars[i + 1];
			chars[i + 1] = before;
		}
		if (joined == 0 || joined == SIMDUP_FOLD_EXCHANGE)
		{
			i++;
			continue;
		}
		append_char(chars, &used, joined, chars[i].char_class);
		memmove(&chars[i + 1], &chars[i + 2],
				(--*n - i - 1) * sizeof(NaiveChar));
	}
}

/* The characters of the folded text; a byte of none is a separator. */
static NaiveChar *
naive_folded(const char *text, size_t len, size_t *n)
{
	size_t n_chars;
	NaiveChar *chars = naive_chars(text, len, &n_chars);
	NaiveChar *folded =
		checked(malloc((n_chars + 1) * SIMDUP_MAX_FOLDED * sizeof(NaiveChar)));

	*n = 0;
	for (size_t i = 0; i < n_chars; i++)
	{
		uint32_t cp = chars[i].cp;
		SimdupFoldProperty property;

		if (cp == SIMDUP_INVALID_CHAR)
		{
			folded[(*n)++] = chars[i];
			continue;
		}
		property = simdup_fold_properties[simdup_fold_number(cp)];
		if (property.char_class >= SIMDUP_FOLD_SECOND)
			append_char(folded, n, cp,
						(SimdupCharClass) (property.char_class -
										   SIMDUP_FOLD_SECOND));
		else if (property.char_class != SIMDUP_FOLD_LISTED)
			append_char(folded, n, (uint32_t) ((int32_t) cp + property.value),
						(SimdupCharClass) property.char_class);
		else
			for (int j = 0; j < property.n; j++)
			{
				uint32_t e = simdup_fold_expansions[property.value + j];

				append_char(folded, n, SIMDUP_EXPANSION_CHAR(e),
							SIMDUP_EXPANSION_CLASS(e));
			}
	}
	join_pairs(folded, n);
	free(chars);
	return folded;
}

static Strings
naive_shingles(SimdupShingling shingling, const NaiveChar *chars, size_t n)
{
	Strings units = {0};
	Strings shingles = {0};

	if (shingling.unit == SIMDUP_SHINGLE_WORD)
		naive_words(chars, n, &units);
	else
		for (size_t i = 0; i < n; i++)
			if (chars[i].char_class != SIMDUP_CHAR_SEPARATOR)
				add_folded(&units, chars, i, i + 1);
	naive_windows(&units, (uint64_t) shingling.w,
				  shingling.unit == SIMDUP_SHINGLE_WORD ? " " : "", &shingles);
	free(units.bytes);
	return shingles;
}

static bool
is_white(uint32_t cp)
{
	return byte_in((unsigned char) cp, 0x09, 0x0D) && cp < 0x80
			   ? true
			   : (cp >= 0x1C && cp <= 0x20) || cp == 0x85 || cp == 0x1680 ||
					 cp == 0x2028 || cp == 0x2029;
}

/* The mask of a field, bit by bit: as many as are asked for. */
static void
check_mask(const char *text, size_t len, const char *folded, size_t folded_len)
{
	uint32_t number = len > 0 ? (uint32_t) (unsigned char) text[0] + 1 : 1;
	int n_bits =
		len > 1 ? (unsigned char) text[1] % (SIMDUP_MAX_FIELD_BITS + 1) : 10;
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t h =
		simdup_mix64(simdup_city64(folded, folded_len) ^ number * seed);
	bool bits[64] = {false};
	uint64_t expected = 0;
	int n = folded_len > 0 ? n_bits : 0;

	for (uint64_t r = 0; n > 0; r++)
	{
		uint64_t bit = simdup_mix64(h ^ r * seed) / (UINT64_C(1) << 58);

		n -= !bits[bit];
		bits[bit] = true;
	}
	for (int i = 0; i < 64; i++)
		if (bits[i])
			expected += UINT64_C(1) << i;
	must(simdup_field_mask(text, len, number, n_bits) == expected);
}

/* Words between white space, joined by one blank. */
static void
check_field(const char *text, size_t len, const NaiveChar *chars, size_t n)
{
	char *expected = checked(malloc(n * 2 * SIMDUP_MAX_UTF8 + 1));
	size_t used = 0;
	size_t field_len;
	char *field = simdup_fold_field(text, len, &field_len);
	bool gap = false;

	for (size_t i = 0; i < n; i++)
	{
		bool invalid = chars[i].cp == SIMDUP_INVALID_CHAR;

		if (!invalid && is_white(chars[i].cp))
		{
			gap = true;
			continue;
		}
		if (gap && used > 0)
			expected[used++] = ' ';
		gap = false;
		if (invalid)
			expected[used++] = text[chars[i].at];
		else
			memcpy(expected + used, chars[i].folded,
				   (size_t) chars[i].folded_len);
		used += invalid ? 0 : (size_t) chars[i].folded_len;
	}
	must(field_len == used && memcmp(field, expected, used) == 0);
	check_mask(text, len, expected, used);
	simdup_free(field);
	free(expected);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);
	SimdupShingleUnit unit = (SimdupShingleUnit) (take_byte(&in) % 3);
	SimdupShingling shingling = {unit, (int) take_between(&in, 1,
														  SIMDUP_MAX_FOLDED_W)};
	size_t len;
	char *text = take_long_text(&in, MAX_TEXT, &len);
	size_t n;
	NaiveChar *chars = unit == SIMDUP_SHINGLE_RAW ? naive_raw(text, len, &n)
												  : naive_folded(text, len, &n);
	Strings expected = naive_shingles(shingling, chars, n);
	Shingles shingles = {0};
	const char *bytes;
	size_t bytes_len;

	simdup_folded_shingles(shingling, text, len, collect_strings, &shingles);
	must(same_strings(&shingles.strings, &expected));
	for (int v = SIMDUP_VECTORS_PLAIN; v <= (int) simdup_find_vectors(); v++)
	{
		size_t at = 0;
		size_t i = 0;

		simdup_vectors = (SimdupVectors) v;
		shingles.n_hashes = 0;
		simdup_folded_elements(shingling, text, len, collect_hashes, &shingles);
		must(shingles.n_hashes == expected.n);
		while (next_string(&expected, &at, &bytes, &bytes_len))
			must(shingles.hashes[i++] == simdup_city64(bytes, bytes_len));
	}
	if (unit != SIMDUP_SHINGLE_RAW)
		check_field(text, len, chars, n);
	free(shingles.strings.bytes);
	free(shingles.hashes);
	free(expected.bytes);
	free(chars);
	free(text);
	return 0;
}
