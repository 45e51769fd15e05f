/*
 * numbers.c
 *	  The numbers of a text.
 *
 * The text becomes a string of symbols, one byte for each character that matters
 * to a number. A stretch of other characters becomes one symbol. Numbers are read
 * from that string, with looks ahead and back of any length.
 */
#include "core/compare/passages.h"

#include "core/unicode/fold.h"

/*
 * The symbols. Digits are themselves, Chinese numerals from 0 to 9 are A to J,
 * and the Chinese units ten, hundred, thousand, 10^4 and 10^8 are P to T. Each
 * currency sign has a symbol, above ASCII.
 */
#define SIGN(i) (0x80 + (i))
#define SYMBOL_OTHER 'x'
#define SYMBOL_YEAR 'y'
#define SYMBOL_CIRCLE 'z'
#define SYMBOL_M 'm'
#define SYMBOL_CDK 'k' /* with m they are units of length */
#define SYMBOL_O 'o'
#define SYMBOL_LETTER 'l' /* another one of a script with blanks */
#define SYMBOLS_LETTERS "mkol"
#define SYMBOLS_WHITE " nfts"

/* Each separator has a symbol, as the groups of a number have one of them only. */
#define SYMBOLS_GROUPING ".,wa'qnfts"
#define SYMBOLS_DECIMAL ".,d" /* d: the Arabic decimal separator */

/* Characters in ascending order, and the symbol of each. */
typedef struct Symbols
{
	uint32_t cps[38];
	const char *symbols;
} Symbols;

/* Separators. White space of other kinds is a blank. */
static const Symbols separators = {{'\'', ',', '.', 0xA0, 0x66B, 0x66C, 0x2007,
									0x2009, 0x2019, 0x202F, 0xFF0C, 0xFF0E},
								   "',.ndaftqsw."};

/*
 * Chinese numerals and units, also the traditional ones and those of banks, and the
 * sign of a year. V to X are twenty, thirty and forty, which become two symbols.
 */
static const Symbols numerals = {{0x3007, 0x4E00, 0x4E03, 0x4E07, 0x4E09,
								  0x4E24, 0x4E5D, 0x4E8C, 0x4E94, 0x4EBF,
								  0x4EDF, 0x4F0D, 0x4F70, 0x5104, 0x5169,
								  0x516B, 0x516D, 0x5341, 0x5343, 0x5345,
								  0x534C, 0x53C1, 0x56DB, 0x58F9, 0x5E74,
								  0x5EFF, 0x62FE, 0x634C, 0x67D2, 0x7396,
								  0x767E, 0x8086, 0x842C, 0x8CB3, 0x8D30,
								  0x9646, 0x9678, 0x96F6},
								 "ABHSDCJCFTRFQTCIGPRWXDEByVPIHJQESCCGGA"};

/* Return the symbol of a character that is in the list, or SYMBOL_OTHER. */
static char
find_symbol(const Symbols *list, uint32_t cp)
{
	size_t n = simdup_count_chars(list->cps, strlen(list->symbols), cp);

	return n > 0 && list->cps[n - 1] == cp ? list->symbols[n - 1]
										   : SYMBOL_OTHER;
}

/* The symbols of the text so far. */
typedef struct Reading
{
	char *s;
	size_t n;
	bool has_numeral[256]; /* by the low byte of characters: may one be a numeral? */
	bool is_behind_unit; /* so that the three of banks is a numeral */
	bool has_unit;		 /* a unit is last, or only zeros are behind it */
} Reading;

static void
begin_reading(Reading *reading, size_t len)
{
	/* a fraction of two bytes has four symbols, and one more at its end */
	*reading = (Reading){.s = simdup_alloc(2 * len + 2)};
	for (size_t i = 0; numerals.symbols[i] != '\0'; i++)
		reading->has_numeral[numerals.cps[i] & 0xff] = true;
}

/* Return the symbol that a character has as it is, or SYMBOL_OTHER. */
static char
symbol_of(const Reading *reading, uint32_t cp)
{
	size_t n;
	char symbol;

	/* most characters of most texts */
	if (cp - 'a' < 26)
		return "llkkllllllklmlolllllllllll"[cp - 'a'];
	if (cp - 'A' < 26)
		return cp == 'O' ? SYMBOL_O : SYMBOL_LETTER;
	if (cp == ' ' || cp - '0' < 10)
		return (char) cp;
	if (cp >= numerals.cps[0] && cp < 0xA000)
		return reading->has_numeral[cp & 0xff] ? find_symbol(&numerals, cp)
											   : SYMBOL_OTHER;
	if (cp == 0x25CB || cp == 0x25EF)
		return SYMBOL_CIRCLE;
	if (cp == 0xFF2F || cp == 0xFF4F)
		return SYMBOL_O;
	if (simdup_char_property(cp).char_class != SIMDUP_CHAR_SEPARATOR)
		return SYMBOL_OTHER;
	n = simdup_count_chars(simdup_currency_signs, simdup_n_currency_signs, cp);
	if (n > 0 && simdup_currency_signs[n - 1] == cp)
		return (char) SIGN(n - 1);
	symbol = find_symbol(&separators, cp);
	return symbol == SYMBOL_OTHER && simdup_is_white_space(cp) ? ' ' : symbol;
}

static void
put_symbol(Reading *reading, char symbol)
{
	char *end = reading->s + reading->n;

	if (symbol >= 'V' && symbol <= 'X')
	{
		*end++ = (char) (symbol - 'V' + 'C');
		symbol = 'P';
	}
	else if ((symbol == SYMBOL_OTHER || symbol == SYMBOL_LETTER) &&
			 reading->n > 0 && end[-1] == symbol)
		return;
	*end++ = symbol;
	reading->n = (size_t) (end - reading->s);
}

/* Check whether a character, or a symbol, is an ASCII digit. */
static inline bool
is_digit(uint32_t c)
{
	return c - '0' < 10;
}

static bool
is_decimal_digit(uint32_t cp)
{
	size_t n = simdup_count_chars(simdup_digit_zeros, simdup_n_digit_zeros, cp);

	return n > 0 && cp - simdup_digit_zeros[n - 1] < 10;
}

/*
 * Check whether the digits that a character folds to are no number: a superscript,
 * a subscript, or a square with a unit.
 */
static bool
is_numberless(uint32_t cp)
{
	return cp == 0xB2 || cp == 0xB3 || cp == 0xB9 ||
		   (cp >= 0x2070 && cp <= 0x2089) || (cp >= 0x3371 && cp <= 0x33DF);
}

/*
 * Put the symbols of a character that has none as it is. One that folds to nothing
 * is passed over. One that folds to a numeral is that. One that is no decimal digit
 * and folds to digits is a number apart.
 */
static void
put_folded(Reading *reading, uint32_t cp)
{
	uint32_t self;
	int n;
	const uint32_t *e = simdup_fold_elements(cp, &self, &n);
	bool any_digit = false;
	char symbol = SYMBOL_OTHER;

	for (int i = 0; i < n; i++)
		any_digit |= is_digit(SIMDUP_EXPANSION_CHAR(e[i]));
	if (n == 0)
		return;
	if (any_digit && is_decimal_digit(cp))
		symbol = (char) SIMDUP_EXPANSION_CHAR(e[0]);
	else if (any_digit)
	{
		put_symbol(reading, SYMBOL_OTHER);
		for (int i = 0; i < n && !is_numberless(cp); i++)
			put_symbol(reading, is_digit(SIMDUP_EXPANSION_CHAR(e[i]))
									? (char) SIMDUP_EXPANSION_CHAR(e[i])
									: SYMBOL_OTHER);
	}
	else if (SIMDUP_EXPANSION_CLASS(e[n - 1]) == SIMDUP_CHAR_SEGMENTED)
		symbol = SYMBOL_LETTER;
	else if (n == 1 && (cp < 0x3190 || cp > 0x33FF) &&
			 SIMDUP_EXPANSION_CHAR(e[0]) != cp)
		symbol = find_symbol(&numerals, SIMDUP_EXPANSION_CHAR(e[0]));
	put_symbol(reading, symbol);
}

static inline bool
is_sign(char symbol)
{
	return (uint8_t) symbol >= SIGN(0);
}

/* Check whether a symbol is one of others. The 0 at the end of the text is not. */
static inline bool
is_one_of(char symbol, const char *symbols)
{
	return symbol != '\0' && strchr(symbols, symbol) != NULL;
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
	static const int places[] = {1, 2, 3, 4, 8};

	return symbol >= 'P' && symbol <= 'T' ? places[symbol - 'P'] : 0;
}

static inline bool
is_large_unit(char symbol)
{
	return unit_places(symbol) >= 4;
}

static inline bool
is_chinese(char symbol)
{
	return numeral_value(symbol) >= 0 || unit_places(symbol) > 0;
}

/*
 * Make zeros of circles, letters O and digits 0 in numerals. In a run beside
 * a Chinese numeral or unit, circles are zeros. In other runs all are, if a numeral
 * is before the run, and another one or the sign of a year behind it.
 */
static void
resolve_zeros(char *s)
{
	for (size_t i = 0, steps = 0; s[i] != '\0'; i++, steps++)
	{
		char before = i > 0 ? s[i - 1] : '\0';
		size_t circles;
		size_t n;
		char behind;

		simdup_check_interrupts_at(steps);
		if (s[i] != '0' && s[i] != SYMBOL_O && s[i] != SYMBOL_CIRCLE)
			continue;
		circles = strspn(s + i, (char[]){SYMBOL_CIRCLE, '\0'});
		n = strspn(s + i, (char[]){'0', SYMBOL_O, SYMBOL_CIRCLE, '\0'});
		behind = s[i + n];
		if (circles == n
				? is_chinese(before) || is_chinese(behind)
				: numeral_value(before) >= 0 &&
					  (numeral_value(behind) >= 0 || behind == SYMBOL_YEAR))
			memset(s + i, 'A', n);
		i += n - 1;
	}
}

/*
 * Drop the 2 and the 3 of square and cubic units behind numbers: m2, 5 km2. No
 * letter and no digit follows.
 */
static void
drop_exponents(char *s)
{
	for (size_t i = 0; s[i] != '\0'; i++)
	{
		size_t unit = i;

		simdup_check_interrupts_at(i);
		if (s[i] != SYMBOL_M || (s[i + 1] != '2' && s[i + 1] != '3') ||
			is_digit(s[i + 2]) || is_one_of(s[i + 2], SYMBOLS_LETTERS))
			continue;
		if (unit > 0 && (s[unit - 1] == SYMBOL_M || s[unit - 1] == SYMBOL_CDK))
			unit--;
		if (unit > 0 && is_one_of(s[unit - 1], SYMBOLS_WHITE))
			unit--;
		if (unit > 0 && (is_digit(s[unit - 1]) || is_chinese(s[unit - 1])))
			s[i + 1] = SYMBOL_OTHER;
	}
}

/* Check whether a character is ten, hundred or thousand as banks write them. */
static bool
is_bank_unit(uint32_t cp)
{
	return cp == 0x62FE || cp == 0x4F70 || cp == 0x4EDF;
}

/*
 * Check whether a character is the three of banks in Taiwan, traditional or simplified.
 * It is also in words, as in to take part. It is a numeral before a unit of banks or a
 * large one, behind a unit of banks, and behind a zero that follows a unit.
 */
static bool
is_bank_three(Reading *reading, uint32_t cp, char symbol,
			  const unsigned char *next, const unsigned char *end)
{
	bool is_numeral = reading->is_behind_unit;
	int n_bytes;

	if (symbol == 'A')
		reading->is_behind_unit = reading->has_unit;
	else
	{
		reading->is_behind_unit = is_bank_unit(cp);
		reading->has_unit = reading->is_behind_unit || is_large_unit(symbol);
	}
	if (cp != 0x53C3 && cp != 0x53C2)
		return false;
	cp = next < end ? simdup_utf8_decode(next, end, &n_bytes) : 0;
	return is_numeral || is_bank_unit(cp) ||
		   is_large_unit(symbol_of(reading, cp));
}

/* Letters and blanks beside a number that it may depend on, at most. */
#define MOST_NEAR 4

static inline bool
is_letter_or_blank(uint32_t c)
{
	return (c | 0x20) - 'a' < 26 || c == ' ';
}

/*
 * Pass over ASCII letters and blanks from p on, but not over the last ones, which a
 * number behind them may depend on. Stay at an O: it may be a zero of the number before.
 */
static const unsigned char *
pass_words(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *q = p;

	if (p < end && (*p | 0x20) == 'o')
		return p;
	while (q < end && is_letter_or_blank(*q))
		q++;
	return q - p > MOST_NEAR ? q - MOST_NEAR : p;
}

/* Return the text as *n symbols, with a 0 at their end. */
static char *
read_symbols(const char *text, size_t len, size_t *n)
{
	const unsigned char *p = (const unsigned char *) text;
	const unsigned char *end = p + len;
	const unsigned char *poll_at = p + SIMDUP_POLL_BYTES;
	Reading reading;
	int n_bytes;

	begin_reading(&reading, len);
	for (size_t n_near = 0; p < end; p += n_bytes)
	{
		uint32_t cp = simdup_utf8_decode(p, end, &n_bytes);
		char symbol = symbol_of(&reading, cp);

		poll_at = simdup_poll(p, poll_at);
		if (is_bank_three(&reading, cp, symbol, p + n_bytes, end))
			symbol = 'D';
		if (symbol == SYMBOL_OTHER && cp >= 0x80)
			put_folded(&reading, cp);
		else
			put_symbol(&reading, symbol);
		n_near = is_letter_or_blank(cp) ? n_near + 1 : 0;
		if (n_near == MOST_NEAR)
		{
			const unsigned char *next = pass_words(p + n_bytes, end);

			if (next > p + n_bytes)
				put_symbol(&reading, SYMBOL_OTHER);
			n_bytes = (int) (next - p);
		}
	}
	reading.s[reading.n] = '\0';
	resolve_zeros(reading.s);
	drop_exponents(reading.s);
	*n = reading.n;
	return reading.s;
}

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
	return s[i] == separator && digits_end(s, i + 1) == i + 1 + n;
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

	if (!is_one_of(separator, SYMBOLS_GROUPING))
		return i;
	while (is_group(s, end, separator, 3))
		end += 4;
	n = (end - i) / 4;
	/* one group behind a point: decimal digits, unless a decimal comma follows */
	if (separator == '.' && n == 1 && !(s[end] == ',' && is_digit(s[end + 1])))
		return i;
	if (n > 0 || separator != ',' || n_first == 3 || chained)
		return end;
	/* groups of two, and of three at the end, as in India */
	while (is_group(s, end, ',', 2))
		end += 3;
	return end > i && is_group(s, end, ',', 3) ? end + 4 : i;
}

/*
 * Return where the decimal digits end whose mark is at s[i]; i if there are
 * none. A mark that digits follow once more is the separator of a list or date.
 */
static size_t
decimals_end(const char *s, size_t i)
{
	size_t end;

	if (!is_one_of(s[i], SYMBOLS_DECIMAL))
		return i;
	end = digits_end(s, i + 1);
	return end == i + 1 || (s[end] == s[i] && is_digit(s[end + 1])) ? i : end;
}

/*
 * Check whether a number begins at s[i] with a point. Other points end a
 * sentence, or belong to an abbreviation.
 */
static bool
is_leading_point(const char *s, size_t i)
{
	return s[i] == '.' && decimals_end(s, i) > i &&
		   (i == 0 || is_sign(s[i - 1]) || is_one_of(s[i - 1], SYMBOLS_WHITE));
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

/* The numbers so far, and where the next one is looked for. */
typedef struct Output
{
	const char *s; /* the symbols of the text */
	bool narrow_signs;
	size_t taken; /* symbols before this one belong to a number, or to none */
	char *bytes;
	size_t used;
	size_t size;
} Output;

static void
put(Output *out, char c)
{
	out->bytes = simdup_grow(out->bytes, &out->size, out->used + 1, 1);
	out->bytes[out->used++] = c;
}

/* Put the currency sign of a symbol. Wide dollar signs are always narrow ones. */
static void
put_sign(Output *out, char symbol)
{
	static const uint32_t narrow[][2] = {{0xFE69, '$'},	 {0xFF04, '$'},
										 {0xFFE0, 0xA2}, {0xFFE1, 0xA3},
										 {0xFFE5, 0xA5}, {0xFFE6, 0x20A9}};
	unsigned char bytes[SIMDUP_MAX_UTF8];
	uint32_t cp = simdup_currency_signs[(uint8_t) symbol - SIGN(0)];

	for (int i = 0; i < (out->narrow_signs ? 6 : 2); i++)
		if (cp == narrow[i][0])
			cp = narrow[i][1];
	for (int i = 0, len = simdup_utf8_encode(cp, bytes); i < len; i++)
		put(out, (char) bytes[i]);
}

/* Begin the number at s[i]: a blank, and the sign before the number. */
static void
begin_number(Output *out, size_t i)
{
	const char *s = out->s;

	if (out->used > 0)
		put(out, ' ');
	if (i > out->taken && is_one_of(s[i - 1], SYMBOLS_WHITE))
		i--;
	if (i > out->taken && is_sign(s[i - 1]))
		put_sign(out, s[i - 1]);
}

/*
 * End a number before s[i], and take the sign behind it. A sign that touches two
 * numbers is the first one's; with a blank before it, only if it touches none.
 */
static void
end_number(Output *out, size_t i)
{
	const char *s = out->s;

	out->taken = i;
	if (is_one_of(s[i], SYMBOLS_WHITE) && is_sign(s[i + 1]) &&
		!is_digit(s[i + 2]) && !is_leading_point(s, i + 2) &&
		!is_numeral_run(s, i + 2))
		i++;
	if (is_sign(s[i]))
	{
		put_sign(out, s[i]);
		out->taken = i + 1;
	}
}

/*
 * Multiply the number from bytes[start] on by a power of ten. It has no point yet.
 * Put one before the rest of its n_decimals last digits. Zeros at its beginning
 * stay if it is not multiplied.
 */
static void
set_point(Output *out, size_t start, size_t n_decimals, size_t places)
{
	size_t zeros = 0;

	for (; n_decimals < places; n_decimals++)
	{
		simdup_check_interrupts_at(n_decimals);
		put(out, '0');
	}
	if (n_decimals > places)
	{
		char *point;

		put(out, '.');
		point = out->bytes + out->used - 1 - (n_decimals - places);
		memmove(point + 1, point, n_decimals - places);
		*point = '.';
	}
	if (places == 0)
		return;
	while (start + zeros + 1 < out->used && out->bytes[start + zeros] == '0' &&
		   is_digit(out->bytes[start + zeros + 1]))
		zeros++;
	out->used -= zeros;
	memmove(out->bytes + start, out->bytes + start + zeros, out->used - start);
}

/* Take the number that begins at s[i], with a digit or with a point. */
static void
take_digits(Output *out, size_t i)
{
	const char *s = out->s;
	bool chained = i > 1 && is_one_of(s[i - 1], ".,") && is_digit(s[i - 2]);
	char chain = chained ? s[i - 1] : '\0';
	size_t first_end = digits_end(s, i);
	size_t whole_end = first_end;
	size_t end;
	size_t start;
	size_t n_decimals;
	size_t places = 0;

	if (first_end > i && first_end - i <= 3 && s[i] != '0')
		whole_end = groups_end(s, first_end, first_end - i, chained);
	end = whole_end;
	/* a mark that has parted groups, or a list before, is no decimal mark */
	if (s[end] != (end > first_end ? s[first_end] : chain))
		end = decimals_end(s, end);
	begin_number(out, i);
	start = out->used;
	for (; i < end; i++)
	{
		simdup_check_interrupts_at(i);
		if (is_digit(s[i]))
			put(out, s[i]);
	}
	n_decimals = end > whole_end ? end - whole_end - 1 : 0;
	for (; unit_places(s[end]) > 1; end++)
		places += (size_t) unit_places(s[end]);
	set_point(out, start, n_decimals, places);
	end_number(out, end);
}

/* Chinese numerals */

static void
put_value(Output *out, uint64_t value)
{
	if (value > 9)
		put_value(out, value / 10);
	put(out, (char) ('0' + value % 10));
}

static const uint64_t powers_of_ten[] = {1,		  10,		100,
										 1000,	  10000,	100000,
										 1000000, 10000000, 100000000};

/*
 * Read the number below 10,000 at s[i]. Return where it ends, or i. A numeral at its
 * end counts as a tenth of the unit before it: two thousand three is 2,300.
 */
static size_t
read_section(const char *s, size_t i, uint64_t *value)
{
	int last = 4; /* places of the last unit; each is below the one before */
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
			*value +=
				(uint64_t) (digit > 0 ? digit : 1) * powers_of_ten[places];
			last = places;
			end = at + (digit > 0 ? 2 : 1);
			continue;
		}
		if (digit <= 0 ||
			!(first || zero || last == 1 || !is_chinese(s[at + 1])))
			return end;
		*value +=
			(uint64_t) digit * powers_of_ten[first || zero ? 0 : last - 1];
		return at + 1;
	}
}

/*
 * Read the number that begins at s[i] and is below the square of a big unit, 10^8
 * or 10^4: a multiple of the unit, and a rest. Return where it ends, or i.
 */
static size_t
read_numerals(const char *s, size_t i, int places, uint64_t *value)
{
	size_t end = i;
	size_t at;
	size_t rest_end;
	uint64_t rest;

	if (places < 4)
		return read_section(s, i, value);
	*value = 1;
	if (unit_places(s[i]) != places)
	{
		end = read_numerals(s, i, places / 2, value);
		if (end == i || unit_places(s[end]) != places)
			return end;
	}
	end++;
	*value *= powers_of_ten[places];
	if (numeral_value(s[end]) > 0 && !is_chinese(s[end + 1]))
	{
		*value += (uint64_t) numeral_value(s[end]) * powers_of_ten[places - 1];
		return end + 1;
	}
	at = s[end] == 'A' ? end + 1 : end;
	if (unit_places(s[at]) >= 4)
		return end;
	rest_end = read_numerals(s, at, places / 2, &rest);
	*value += rest; /* 0 without one */
	return rest_end == at ? end : rest_end;
}

/*
 * Take a run of numerals that begins at s[i]. It is cut from the left: each
 * number takes as many numerals as it can, as digits or as they are said.
 */
static void
take_numerals(Output *out, size_t i)
{
	const char *s = out->s;

	while (is_chinese(s[i]))
	{
		size_t plain = i;
		uint64_t value;
		size_t said = read_numerals(s, i, 8, &value);

		simdup_check_interrupts();
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
	size_t n;
	char *s = read_symbols(text, len, &n);
	Output out = {.s = s, .narrow_signs = narrow_signs};

	out.bytes = simdup_grow(NULL, &out.size, 1, 1);
	for (size_t i = 0, steps = 0; i < n; steps++)
	{
		simdup_check_interrupts_at(steps);
		if (is_digit(s[i]) || is_leading_point(s, i))
			take_digits(&out, i);
		else if (is_numeral_run(s, i))
			take_numerals(&out, i);
		i = out.taken > i ? out.taken : i + 1;
	}
	simdup_free(s);
	*n_bytes = out.used;
	return out.bytes;
}
