/*
 * vectors.c
 *	  Hashes of windows and fingerprints by each set of instructions, against the
 *	  windows as strings. Texts are of every script, broken ones, too, and of all
 *	  lengths around those of blocks. A text ends where its memory does.
 */
#include "core/fingerprint/hash.h"
#include "core/fingerprint/vectors.h"
#include "core/unicode/fold.h"
#include "minhash64.h"
#include "random.h"
#include "tap.h"

#define MAX_CHARS 1400

/* First and last code points of what texts are made of. */
static const uint32_t scripts[][2] = {{' ', '~'},		  {0xC0, 0x24F},
									  {0x300, 0x36F},	  {0x370, 0x3FF},
									  {0x400, 0x4FF},	  {0x5B0, 0x5EA},
									  {0x610, 0x6FF},	  {0x900, 0x97F},
									  {0xB80, 0xBFF},	  {0xE00, 0xE5B},
									  {0xF40, 0xFBC},	  {0x1000, 0x109F},
									  {0x1100, 0x11FF},	  {0x1E00, 0x1EFF},
									  {0x2000, 0x206F},	  {0x2E80, 0x2FD5},
									  {0x3040, 0x30FF},	  {0x4E00, 0x9FFF},
									  {0xAC00, 0xD7A3},	  {0xF900, 0xFAFF},
									  {0xFB00, 0xFDFF},	  {0xFF00, 0xFFFF},
									  {0x10A00, 0x10AFF}, {0x1F600, 0x1F64F},
									  {0x20000, 0x20FFF}, {0, 0x10FFFF}};

typedef struct Hashes
{
	uint64_t hashes[MAX_CHARS * SIMDUP_MAX_FOLDED];
	size_t n;
} Hashes;

static void
collect_hashes(void *arg, const uint64_t *hashes, size_t n)
{
	Hashes *all = arg;

	memcpy(all->hashes + all->n, hashes, n * sizeof(uint64_t));
	all->n += n;
}

static void
hash_tokens(void *arg, const SimdupToken *tokens, int n)
{
	Hashes *all = arg;

	for (int i = 0; i < n; i++)
		all->hashes[all->n++] = simdup_city64(tokens[i].bytes, tokens[i].len);
}

/* Write a text of n characters, some of them of another script, some bytes broken. */
static size_t
make_text(uint64_t *state, size_t n, char *text)
{
	size_t n_scripts = sizeof(scripts) / sizeof(scripts[0]);
	size_t script = next_random_of(state) % n_scripts;
	size_t other = next_random_of(state) % n_scripts;
	uint64_t rare = (uint64_t) 1 << next_random_of(state) % 9;
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
	{
		const uint32_t *range =
			scripts[next_random_of(state) % rare ? script : other];
		uint32_t cp = range[0] + (uint32_t) (next_random_of(state) %
											 (range[1] - range[0] + 1));

		if (next_random_of(state) % 8 == 0)
			cp = ' ';
		len += (size_t) simdup_utf8_encode(cp, (unsigned char *) text + len);
		if (next_random_of(state) % (rare * 16) == 0)
			text[next_random_of(state) % len] = (char) next_random_of(state);
	}
	/* not always at the end of a character */
	return len - next_random_of(state) % 4 * (len > 3) * (rare > 8);
}

/* Check whether the hashes of a text, in its own memory, are those of its windows. */
static bool
agrees(SimdupShingling shingling, const char *text, size_t len)
{
	static Hashes expected;
	static Hashes found;

	expected.n = 0;
	found.n = 0;
	simdup_folded_shingles(shingling, text, len, hash_tokens, &expected);
	simdup_folded_elements(shingling, text, len, collect_hashes, &found);
	return found.n == expected.n && memcmp(found.hashes, expected.hashes,
										   found.n * sizeof(uint64_t)) == 0;
}

int
main(void)
{
	static const char *const names[] = {"", "plain", "AVX2", "AVX-512"};
	static char text[MAX_CHARS * SIMDUP_MAX_UTF8];
	SimdupVectors best = simdup_find_vectors();
	uint64_t state = 1;
	size_t n_differing[SIMDUP_VECTORS_AVX512 + 1] = {0};

	for (size_t i = 0; i < 6000; i++)
	{
		/* all lengths up to 600 */
		size_t n = i < 4 * 600 ? i % 600 : next_random_of(&state) % MAX_CHARS;
		size_t len = make_text(&state, n, text);
		char *own = malloc(len + (len == 0));
		SimdupShingling shingling = {i % 5 == 0 ? SIMDUP_SHINGLE_RAW
												: SIMDUP_SHINGLE_CHAR,
									 1 + (int) (i / 5 % 20)};
		uint64_t expected = 0;

		if (own == NULL)
			abort();
		memcpy(own, text, len);
		for (int v = SIMDUP_VECTORS_PLAIN; v <= (int) best; v++)
		{
			uint64_t fingerprint;

			simdup_vectors = (SimdupVectors) v;
			fingerprint = minhash64(own, len, shingling.w, shingling.unit);
			if (v == SIMDUP_VECTORS_PLAIN)
				expected = fingerprint;
			n_differing[v] +=
				fingerprint != expected || !agrees(shingling, own, len);
		}
		free(own);
	}
	for (int v = SIMDUP_VECTORS_PLAIN; v <= (int) best; v++)
		ok(n_differing[v] == 0, "%s: %zu of 6,000 texts differ", names[v],
		   n_differing[v]);
	return done_testing();
}
