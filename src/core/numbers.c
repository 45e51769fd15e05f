/*
 * numbers.c
 *	  The numbers of a text.
 *
 * The text becomes a string of symbols, one byte for each character that matters
 * to a number. A stretch of other characters becomes one symbol. Numbers are read
 * from that string, with looks ahead and back of any length.
 */
#include "core/text.h"

#include <string.h>

#include "core/charclass.h"
#include "core/host.h"

/* Characters or numbers between two looks for interrupts. */
#define INTERRUPT_STEPS (1 << 14)

/* The decimal digits of Unicode 15.0: the zero of each ten in a row. */
static const uint32_t zeros[] =
	{0x0030,  0x0660,  0x06F0,	0x07C0,	 0x0966,  0x09E6,  0x0A66,	0x0AE6,
	 0x0B66,  0x0BE6,  0x0C66,	0x0CE6,	 0x0D66,  0x0DE6,  0x0E50,	0x0ED0,
	 0x0F20,  0x1040,  0x1090,	0x17E0,	 0x1810,  0x1946,  0x19D0,	0x1A80,
	 0x1A90,  0x1B50,  0x1BB0,	0x1C40,	 0x1C50,  0xA620,  0xA8D0,	0xA900,
	 0xA9D0,  0xA9F0,  0xAA50,	0xABF0,	 0xFF10,  0x104A0, 0x10D30, 0x11066,
	 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0,
	 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x11F50, 0x16A60,
	 0x16AC0, 0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140,
	 0x1E2F0, 0x1E4F0, 0x1E950, 0x1FBF0};

/* The currency signs of Unicode 15.0, as ranges. */
static const uint32_t signs[][2] = {{0x0024, 0x0024},	{0x00A2, 0x00A5},
									{0x058F, 0x058F},	{0x060B, 0x060B},
									{0x07FE, 0x07FF},	{0x09F2, 0x09F3},
									{0x09FB, 0x09FB},	{0x0AF1, 0x0AF1},
									{0x0BF9, 0x0BF9},	{0x0E3F, 0x0E3F},
									{0x17DB, 0x17DB},	{0x20A0, 0x20C0},
									{0xA838, 0xA838},	{0xFDFC, 0xFDFC},
									{0xFE69, 0xFE69},	{0xFF04, 0xFF04},
									{0xFFE0, 0xFFE1},	{0xFFE5, 0xFFE6},
									{0x11FDD, 0x11FE0}, {0x1E2FF, 0x1E2FF},
									{0x1ECB0, 0x1ECB0}};

/*
 * The symbols. Digits are themselves, Chinese numerals from 0 to 9 are A to J,
 * and the Chinese units ten, hundred, thousand, 10^4 and 10^8 are P to T.
 */
#define SYMBOL_SIGN '$'
#define SYMBOL_POINT '.'
#define SYMBOL_COMMA ','
#define SYMBOL_DECIMAL 'd' /* the Arabic decimal separator */
#define SYMBOL_WHITE ' '
#define SYMBOL_OTHER 'x'

/* What parts groups only; each has a symbol, as a number has one of them only. */
#define SYMBOLS_GROUPING "wa'qnfts"
#define SYMBOLS_WHITE " nfts"

/* Characters with a symbol of their own, ascending. */
static const struct
{
	uint32_t cp;
	char symbol;
} named[] = {{0x0027, '\''}, {0x002C, ','}, {0x002E, '.'}, {0x00A0, 'n'},
			 {0x066B, 'd'},	 {0x066C, 'a'}, {0x2007, 'f'}, {0x2009, 't'},
			 {0x2019, 'q'},	 {0x202F, 's'}, {0x3007, 'A'}, {0x4E00, 'B'},
			 {0x4E03, 'H'},	 {0x4E07, 'S'}, {0x4E09, 'D'}, {0x4E24, 'C'},
			 {0x4E5D, 'J'},	 {0x4E8C, 'C'}, {0x4E94, 'F'}, {0x4EBF, 'T'},
			 {0x4EDF, 'R'},	 {0x4F0D, 'F'}, {0x4F70, 'Q'}, {0x5104, 'T'},
			 {0x5169, 'C'},	 {0x516B, 'I'}, {0x516D, 'G'}, {0x5341, 'P'},
			 {0x5343, 'R'},	 {0x53C1, 'D'}, {0x56DB, 'E'}, {0x58F9, 'B'},
			 {0x62FE, 'P'},	 {0x634C, 'I'}, {0x67D2, 'H'}, {0x7396, 'J'},
			 {0x767E, 'Q'},	 {0x8086, 'E'}, {0x842C, 'S'}, {0x8CB3, 'C'},
			 {0x8D30, 'C'},	 {0x9646, 'G'}, {0x9678, 'G'}, {0x96F6, 'A'},
			 {0xFF0C, 'w'},	 {0xFF0E, '.'}};

/* The text as symbols, with a 0 at its end, and its currency signs in order. */
typedef struct Symbols
{
	char *s;
	size_t n;
	size_t size;
	uint32_t *signs;
	size_t n_signs;
	size_t signs_size;
} Symbols;

static bool
is_sign(uint32_t cp)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (cp <= signs[i][1])
			return cp >= signs[i][0];
	return false;
}

/* Return the value of a decimal digit, or -1. */
static int
digit_value(uint32_t cp)
{
	size_t low = 0;
	size_t high = sizeof(zeros) / sizeof(zeros[0]);

	while (high - low > 1)
	{
		size_t middle = (low + high) / 2;

		if (zeros[middle] <= cp)
			low = middle;
		else
			high = middle;
	}
	return cp >= zeros[low] && cp < zeros[low] + 10 ? (int) (cp - zeros[low])
													: -1;
}

static char
symbol_of(uint32_t cp)
{
	size_t low = 0;
	size_t high = sizeof(named) / sizeof(named[0]);
	int digit;

	/* most characters of most texts */
	if ((cp >= 'A' && cp <= 'z') || cp == SIMDUP_INVALID_CHAR)
		return SYMBOL_OTHER;
	digit = digit_value(cp);
	if (digit >= 0)
		return (char) ('0' + digit);
	while (high - low > 1)
	{
		size_t middle = (low + high) / 2;

		if (named[middle].cp <= cp)
			low = middle;
		else
			high = middle;
	}
	if (named[low].cp == cp)
		return named[low].symbol;
	if (simdup_is_white_space(cp))
		return SYMBOL_WHITE;
	return is_sign(cp) ? SYMBOL_SIGN : SYMBOL_OTHER;
}

static void
add_symbol(Symbols *symbols, char symbol)
{
	if (symbol == SYMBOL_OTHER && symbols->n > 0 &&
		symbols->s[symbols->n - 1] == SYMBOL_OTHER)
		return;
	if (symbols->n + 1 == symbols->size)
	{
		symbols->size *= 2;
		symbols->s = simdup_realloc(symbols->s, symbols->size);
	}
	symbols->s[symbols->n++] = symbol;
	symbols->s[symbols->n] = '\0';
}

static void
add_sign(Symbols *symbols, uint32_t cp)
{
	if (symbols->n_signs == symbols->signs_size)
	{
		symbols->signs_size *= 2;
		symbols->signs = simdup_realloc(symbols->signs,
										symbols->signs_size * sizeof(uint32_t));
	}
	symbols->signs[symbols->n_signs++] = cp;
}

static void
read_symbols(Symbols *symbols, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *) text;
	const unsigned char *end = p + len;
	int n_bytes;

	symbols->n = symbols->n_signs = 0;
	symbols->size = symbols->signs_size = 64;
	symbols->s = simdup_alloc(symbols->size);
	symbols->s[0] = '\0';
	symbols->signs = simdup_alloc(symbols->signs_size * sizeof(uint32_t));
	for (size_t steps = 1; p < end; p += n_bytes, steps++)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &n_bytes);
		char symbol = symbol_of(cp);

		add_symbol(symbols, symbol);
		if (symbol == SYMBOL_SIGN)
			add_sign(symbols, cp);
		if (steps % INTERRUPT_STEPS == 0)
			simdup_check_interrupts();
	}
}

/* Check whether a symbol is one of others. The 0 at the end of the text is not. */
static inline bool
is_one_of(char symbol, const char *symbols)
{
	return symbol != '\0' && strchr(symbols, symbol) != NULL;
}

static inline bool
is_digit(char symbol)
{
	return symbol >= '0' && symbol <= '9';
}

/* Return the value of a Chinese numeral from 0 to 9, or -1. */
static inline int
numeral_value(char symbol)
{
	return symbol >= 'A' && symbol <= 'J' ? symbol - 'A' : -1;
}

/* Return the power of ten of a Chinese unit, or 0. */
static inline int
unit_places(char symbol)
{
	switch (symbol)
	{
		case 'P':
			return 1;
		case 'Q':
			return 2;
		case 'R':
			return 3;
		case 'S':
			return 4;
		case 'T':
			return 8;
	}
	return 0;
}

static inline bool
is_chinese(char symbol)
{
	return numeral_value(symbol) >= 0 || unit_places(symbol) > 0;
}

/* Return where the digits that begin at s[i] end. */
static size_t
digits_end(const char *s, size_t i)
{
	while (is_digit(s[i]))
		i++;
	return i;
}

/* Check whether n digits and no more follow a separator at s[i]. */
static bool
is_group(const char *s, size_t i, char separator, size_t n)
{
	if (s[i] != separator)
		return false;
	for (size_t j = 1; j <= n; j++)
		if (!is_digit(s[i + j]))
			return false;
	return !is_digit(s[i + n + 1]);
}

/*
 * Return where the groups behind the separator at s[i] end, or i. n_first is the
 * number of digits before it. With chained, a comma or a point and more digits
 * stand before those.
 */
static size_t
groups_end(const char *s, size_t i, size_t n_first, bool chained)
{
	char separator = s[i];
	size_t end = i;
	size_t n;

	if (separator != SYMBOL_POINT && separator != SYMBOL_COMMA &&
		!is_one_of(separator, SYMBOLS_GROUPING))
		return i;
	while (is_group(s, end, separator, 3))
		end += 4;
	n = (end - i) / 4;
	/* one group behind a point: decimal digits, unless a decimal comma follows */
	if (separator == SYMBOL_POINT && n == 1 &&
		!(s[end] == SYMBOL_COMMA && is_digit(s[end + 1])))
		return i;
	if (n > 0 || separator != SYMBOL_COMMA || n_first == 3 || chained)
		return end;
	/* groups of two, and of three at the end, as in India */
	while (is_group(s, end, SYMBOL_COMMA, 2))
		end += 3;
	return end > i && is_group(s, end, SYMBOL_COMMA, 3) ? end + 4 : i;
}

/*
 * Return where the decimal digits end whose mark is at s[i]; i if there are
 * none. A mark that digits follow once more is the separator of a list or date.
 */
static size_t
decimals_end(const char *s, size_t i)
{
	char mark = s[i];
	size_t end;

	if (mark != SYMBOL_POINT && mark != SYMBOL_COMMA && mark != SYMBOL_DECIMAL)
		return i;
	end = digits_end(s, i + 1);
	if (end == i + 1 || (s[end] == mark && is_digit(s[end + 1])))
		return i;
	return end;
}

/*
 * Check whether a number begins at s[i] with a point. Other points end a
 * sentence, or belong to an abbreviation.
 */
static bool
is_leading_point(const char *s, size_t i)
{
	return s[i] == SYMBOL_POINT && is_digit(s[i + 1]) &&
		   decimals_end(s, i) > i &&
		   (i == 0 || s[i - 1] == SYMBOL_SIGN ||
			is_one_of(s[i - 1], SYMBOLS_WHITE));
}

/*
 * Check whether the numeral at s[i] is part of a run of two or more. It is the
 * first of the run, or the first behind units that digits took.
 */
static bool
is_numeral_run(const char *s, size_t i)
{
	return is_chinese(s[i]) &&
		   (is_chinese(s[i + 1]) || (i > 0 && is_chinese(s[i - 1])));
}

static bool
begins_number(const char *s, size_t i)
{
	return is_digit(s[i]) || is_leading_point(s, i) || is_numeral_run(s, i);
}

/* The numbers so far, and where the next one is looked for. */
typedef struct Output
{
	const Symbols *symbols;
	bool narrow_signs;
	size_t taken; /* symbols before this one belong to a number, or to none */
	size_t sign;  /* the number of the sign that is at, or behind, sign_at */
	size_t sign_at;
	char *bytes;
	size_t used;
	size_t size;
} Output;

static void
put(Output *out, char c)
{
	if (out->used == out->size)
	{
		out->size *= 2;
		out->bytes = simdup_realloc(out->bytes, out->size);
	}
	out->bytes[out->used++] = c;
}

/* Put the digits of s[from] to s[to], without what separates them. */
static void
put_digits(Output *out, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (is_digit(out->symbols->s[i]))
			put(out, out->symbols->s[i]);
}

static void
put_value(Output *out, uint64_t value)
{
	char digits[20];
	int n = 0;

	do
		digits[n++] = (char) ('0' + value % 10);
	while ((value /= 10) > 0);
	while (n > 0)
		put(out, digits[--n]);
}

/*
 * Return the narrow form of a wide currency sign, or the character as it is.
 * Like unit_places, because both are tables in a switch.
 */
static uint32_t
narrow_sign(uint32_t cp)
{
	switch (cp)
	{
		case 0xFFE0:
			return 0xA2;
		case 0xFFE1:
			return 0xA3;
		case 0xFFE5:
			return 0xA5;
		case 0xFFE6:
			return 0x20A9;
	}
	return cp;
}

/* Put the currency sign at s[at]. Signs are asked for in their order. */
static void
put_sign(Output *out, size_t at)
{
	unsigned char bytes[SIMDUP_MAX_UTF8];
	uint32_t cp;
	int len;

	for (; out->sign_at < at; out->sign_at++)
		out->sign += out->symbols->s[out->sign_at] == SYMBOL_SIGN;
	cp = out->symbols->signs[out->sign];
	if (cp == 0xFF04 || cp == 0xFE69)
		cp = '$';
	else if (out->narrow_signs)
		cp = narrow_sign(cp);
	len = simdup_utf8_encode(cp, bytes);
	for (int i = 0; i < len; i++)
		put(out, (char) bytes[i]);
}

/* Begin the number at s[i]: a blank, and the sign before the number. */
static void
begin_number(Output *out, size_t i)
{
	const char *s = out->symbols->s;
	bool blank = i > out->taken && is_one_of(s[i - 1], SYMBOLS_WHITE);

	if (out->used > 0)
		put(out, ' ');
	if (blank)
		i--;
	if (i > out->taken && s[i - 1] == SYMBOL_SIGN)
		put_sign(out, i - 1);
}

/*
 * End a number before s[i], and take the sign behind it. A sign that touches two
 * numbers is the first one's; with a blank before it, only if it touches none.
 */
static void
end_number(Output *out, size_t i)
{
	const char *s = out->symbols->s;

	out->taken = i;
	if (is_one_of(s[i], SYMBOLS_WHITE) && s[i + 1] == SYMBOL_SIGN &&
		!begins_number(s, i + 2))
		i++;
	if (s[i] == SYMBOL_SIGN)
	{
		put_sign(out, i);
		out->taken = i + 1;
	}
}

/*
 * Multiply the number from bytes[start] on, the last n_decimals digits of which
 * stand behind a point, by a power of ten.
 */
static void
shift_point(Output *out, size_t start, size_t n_decimals, size_t places)
{
	size_t moved = n_decimals < places ? n_decimals : places;
	size_t zeros = 0;

	if (n_decimals > 0)
	{
		char *point = out->bytes + out->used - n_decimals - 1;

		memmove(point, point + 1, moved);
		point[moved] = SYMBOL_POINT;
		if (moved == n_decimals)
			out->used--;
	}
	for (; moved < places; moved++)
		put(out, '0');
	while (out->bytes[start + zeros] == '0' && start + zeros + 1 < out->used &&
		   is_digit(out->bytes[start + zeros + 1]))
		zeros++;
	memmove(out->bytes + start, out->bytes + start + zeros,
			out->used - start - zeros);
	out->used -= zeros;
}

/* Take the number that begins at s[i], with a digit or with a point. */
static void
take_digits(Output *out, size_t i)
{
	const char *s = out->symbols->s;
	bool chained = i > 1 &&
				   (s[i - 1] == SYMBOL_POINT || s[i - 1] == SYMBOL_COMMA) &&
				   is_digit(s[i - 2]);
	char chain = chained ? s[i - 1] : '\0';
	size_t whole = digits_end(s, i);
	size_t end = whole;
	size_t start;
	size_t n_decimals;
	size_t places = 0;

	begin_number(out, i);
	start = out->used;
	if (whole > i && whole - i <= 3 && s[i] != '0')
		end = groups_end(s, whole, whole - i, chained);
	put_digits(out, i, end);
	i = end;
	/* a mark that has parted groups, or a list before, is no decimal mark */
	if (s[i] != (end > whole ? s[whole] : chain))
		end = decimals_end(s, i);
	n_decimals = end > i ? end - i - 1 : 0;
	if (end > i)
		put(out, SYMBOL_POINT);
	put_digits(out, i, end);
	for (; unit_places(s[end]) > 1; end++)
		places += (size_t) unit_places(s[end]);
	if (places > 0)
		shift_point(out, start, n_decimals, places);
	end_number(out, end);
}

/* Chinese numerals */

static uint64_t
power_of_ten(int places)
{
	uint64_t power = 1;

	while (places-- > 0)
		power *= 10;
	return power;
}

/*
 * Check whether a number ends with the numeral at s[i], without a unit. It
 * counts as a tenth of the unit before it: two thousand three is 2,300.
 */
static bool
is_short_form(const char *s, size_t i)
{
	return numeral_value(s[i]) > 0 && !is_chinese(s[i + 1]);
}

/* Read the number below 10,000 at s[i]. Return where it ends, or i. */
static size_t
read_section(const char *s, size_t i, uint64_t *value)
{
	int last =
		4; /* the places of the last unit; each is below the one before */
	size_t end = i;

	*value = 0;
	for (;;)
	{
		bool first = end == i;
		bool zero = !first && s[end] == 'A';
		size_t at = zero ? end + 1 : end;
		int digit = numeral_value(s[at]);
		int places = unit_places(digit > 0 ? s[at + 1] : s[at]);

		if (places > 0 && places < last && (digit > 0 || first || places == 1))
		{
			*value += (uint64_t) (digit > 0 ? digit : 1) * power_of_ten(places);
			last = places;
			end = at + (digit > 0 ? 2 : 1);
		}
		else if (digit > 0 && (first || zero || last == 1))
		{
			*value += (uint64_t) digit;
			return at + 1;
		}
		else if (is_short_form(s, at))
		{
			*value += (uint64_t) digit * power_of_ten(last - 1);
			return at + 1;
		}
		else
			return end;
	}
}

/*
 * Read the number that begins at s[i] and is below the square of a big unit, 10^4
 * or 10^8: a multiple of the unit, and a rest. Return where it ends, or i.
 */
static size_t
read_big(const char *s, size_t i, int places, uint64_t *value)
{
	size_t end = i;
	size_t at;
	size_t rest_end;
	uint64_t rest;

	*value = 1;
	if (unit_places(s[i]) != places)
	{
		end =
			places == 4 ? read_section(s, i, value) : read_big(s, i, 4, value);
		if (end == i || unit_places(s[end]) != places)
			return end;
	}
	end++;
	*value *= power_of_ten(places);
	if (is_short_form(s, end))
	{
		*value += (uint64_t) numeral_value(s[end]) * power_of_ten(places - 1);
		return end + 1;
	}
	at = s[end] == 'A' ? end + 1 : end;
	if (unit_places(s[at]) >= 4)
		return end;
	rest_end =
		places == 4 ? read_section(s, at, &rest) : read_big(s, at, 4, &rest);
	if (rest_end == at)
		return end;
	*value += rest;
	return rest_end;
}

/*
 * Take a run of numerals that begins at s[i]. It is cut from the left: each
 * number takes as many numerals as it can, as digits or as they are said.
 */
static void
take_numerals(Output *out, size_t i)
{
	const char *s = out->symbols->s;

	while (is_chinese(s[i]))
	{
		size_t plain = i;
		uint64_t value;
		size_t said = read_big(s, i, 8, &value);

		while (numeral_value(s[plain]) >= 0)
			plain++;
		begin_number(out, i);
		if (said > plain)
			put_value(out, value);
		else
			for (size_t j = i; j < plain; j++)
				put(out, (char) ('0' + numeral_value(s[j])));
		i = said > plain ? said : plain;
		end_number(out, i);
	}
}

char *
simdup_text_numbers(const char *text, size_t len, bool narrow_signs,
					size_t *n_bytes)
{
	Symbols symbols;
	Output out = {.symbols = &symbols,
				  .narrow_signs = narrow_signs,
				  .size = 64};
	size_t i = 0;

	read_symbols(&symbols, text, len);
	out.bytes = simdup_alloc(out.size);
	for (size_t steps = 1; i < symbols.n; steps++)
	{
		if (is_digit(symbols.s[i]) || is_leading_point(symbols.s, i))
			take_digits(&out, i);
		else if (is_numeral_run(symbols.s, i))
			take_numerals(&out, i);
		i = out.taken > i ? out.taken : i + 1;
		if (steps % INTERRUPT_STEPS == 0)
			simdup_check_interrupts();
	}
	simdup_free(symbols.s);
	simdup_free(symbols.signs);
	*n_bytes = out.used;
	return out.bytes;
}
