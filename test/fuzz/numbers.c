/*
 * numbers.c
 *	  The numbers of any text, against regular expressions. Numbers written in
 *	  Chinese, against the number that was written. The numbers of the result are
 *	  the result.
 */
#include <regex.h>

#include "core/compare/passages.h"
#include "core/host.h"
#include "input.h"

/* Characters of a text, and their symbol, which the expressions match. */
static const struct
{
	const char *bytes;
	char symbol;
	const char *written; /* of a sign */
} characters[] = {
	{"0", '0', NULL},
	{"1", '1', NULL},
	{"2", '2', NULL},
	{"9", '9', NULL},
	{"٣", '3', NULL},
	{"５", '5', NULL},
	{"\xf0\x9d\x9f\x97", '9', NULL}, /* the 9 in bold */
	{".", '.', NULL},
	{"．", '.', NULL},
	{",", ',', NULL},
	{"٫", 'd', NULL},
	{"，", 'w', NULL},
	{"٬", 'a', NULL},
	{"'", 'q', NULL},
	{"\xc2\xa0", 'n', NULL},
	{" ", ' ', NULL},
	{"\n", ' ', NULL},
	{"$", '$', "$"},
	{"￥", '$', "¥"},
	{"₫", '$', "₫"},
	{"x", 'x', NULL},
	{"灯", 'x', NULL},
	{"-", 'x', NULL},
	{"\xff", 'x', NULL},
	{"\xc2\xad", '\0', NULL}, /* passed over */
	{"\xe2\x80\x8b", '\0', NULL},
};

#define N_CHARACTERS (sizeof(characters) / sizeof(characters[0]))
#define MAX_CHARACTERS 400

/* A text, its symbols, and what each sign is written as. */
typedef struct Text
{
	char bytes[MAX_CHARACTERS * 4 + 1];
	char symbols[MAX_CHARACTERS + 8];
	const char *written[MAX_CHARACTERS];
	size_t n;
} Text;

typedef struct Result
{
	char bytes[MAX_CHARACTERS * 8];
	size_t used;
} Result;

static void
append(Result *result, const char *bytes, size_t len)
{
	must(result->used + len < sizeof(result->bytes));
	memcpy(result->bytes + result->used, bytes, len);
	result->used += len;
}

/* Length of the match of an expression's first group at the start, or 0. */
static size_t
matched(const char *pattern, const char *symbols)
{
	regex_t regex;
	regmatch_t match[2];
	size_t len = 0;

	must(regcomp(&regex, pattern, REG_EXTENDED) == 0);
	if (regexec(&regex, symbols, 2, match, 0) == 0)
		len = (size_t) (match[1].rm_eo - match[1].rm_so);
	regfree(&regex);
	return len;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_white(char c)
{
	return c == ' ' || c == 'n';
}

/* Length of a number at s[i] that has groups; 0 if it has none. */
static size_t
naive_groups(const char *s, size_t i, bool chained)
{
	static const char *const patterns[] =
		{"^([1-9][0-9]{0,2}(,[0-9]{3})+)([^0-9]|$)",
		 "^([1-9][0-9]{0,2}(w[0-9]{3})+)([^0-9]|$)",
		 "^([1-9][0-9]{0,2}(a[0-9]{3})+)([^0-9]|$)",
		 "^([1-9][0-9]{0,2}(q[0-9]{3})+)([^0-9]|$)",
		 "^([1-9][0-9]{0,2}(n[0-9]{3})+)([^0-9]|$)",
		 "^([1-9][0-9]{0,2}([.][0-9]{3}){2,})([^0-9]|$)",
		 "^([1-9][0-9]{0,2}[.][0-9]{3}),[0-9]"};
	size_t len = 0;

	for (size_t j = 0; len == 0 && j < sizeof(patterns) / sizeof(patterns[0]);
		 j++)
		len = matched(patterns[j], s + i);
	if (len == 0 && !chained)
		len = matched("^([1-9][0-9]?(,[0-9]{2})+,[0-9]{3})([^0-9]|$)", s + i);
	return len;
}

static bool
naive_leading_point(const char *s, size_t i)
{
	return (i == 0 || is_white(s[i - 1]) || s[i - 1] == '$') &&
		   matched("^([.][0-9]+)([^0-9.]|[.][^0-9]|[.]?$)", s + i) > 0;
}

/* Length of the decimal digits at s[i] with their mark, or 0. */
static size_t
naive_decimals(const char *s, size_t i)
{
	return matched("^([.][0-9]+)([^0-9.]|[.][^0-9]|[.]?$)", s + i) +
		   matched("^(,[0-9]+)([^0-9,]|,[^0-9]|,?$)", s + i) +
		   matched("^(d[0-9]+)([^0-9d]|d[^0-9]|d?$)", s + i);
}

static void
naive_numbers(const Text *text, Result *result)
{
	const char *s = text->symbols;
	size_t taken = 0;

	for (size_t i = 0; i < text->n;)
	{
		bool point = naive_leading_point(s, i);
		bool chained = i > 1 && strchr(".,", s[i - 1]) && is_digit(s[i - 2]);
		size_t whole;
		size_t grouped;
		size_t decimals;
		char used = chained ? s[i - 1] : 'x';

		if (!is_digit(s[i]) && !point)
		{
			i++;
			continue;
		}
		if (result->used > 0)
			append(result, " ", 1);
		if (i > taken && s[i - 1] == '$')
			append(result, text->written[i - 1], strlen(text->written[i - 1]));
		else if (i > taken + 1 && is_white(s[i - 1]) && s[i - 2] == '$')
			append(result, text->written[i - 2], strlen(text->written[i - 2]));

		whole = matched("^([0-9]*)", s + i);
		grouped = naive_groups(s, i, chained);
		if (grouped > 0)
		{
			used = s[i + whole];
			whole = grouped;
		}
		decimals = s[i + whole] == used ? 0 : naive_decimals(s, i + whole);
		for (size_t j = i; j < i + whole + decimals; j++)
			if (is_digit(s[j]))
				append(result, s + j, 1);
			else if (j == i + whole)
				append(result, ".", 1);
		i += whole + decimals;
		taken = i;
		if (s[i] == '$')
			taken = i + 1;
		else if (is_white(s[i]) && s[i + 1] == '$' && !is_digit(s[i + 2]) &&
				 !naive_leading_point(s, i + 2))
			taken = i + 2;
		if (taken > i)
			append(result, text->written[taken - 1],
				   strlen(text->written[taken - 1]));
		i = taken;
	}
}

static void
take_characters(Input *in, Text *text)
{
	size_t used = 0;

	text->n = 0;
	while (input_left(in) > 0 && text->n < MAX_CHARACTERS)
	{
		size_t c = take_byte(in) % N_CHARACTERS;

		strcpy(text->bytes + used, characters[c].bytes);
		used += strlen(characters[c].bytes);
		text->written[text->n] = characters[c].written;
		text->symbols[text->n] = characters[c].symbol;
		text->n += characters[c].symbol != '\0';
	}
	memset(text->symbols + text->n, 0, 8);
	text->bytes[used] = '\0';
}

static void
must_be(const char *text, size_t len, const char *expected, size_t expected_len)
{
	size_t n;
	char *copy = exact_copy(text, len);
	char *got = simdup_text_numbers(copy, len, true, &n);

	if (n != expected_len || memcmp(got, expected, n) != 0)
		fprintf(stderr, "%.*s\ngot:      %.*s\nexpected: %.*s\n", (int) len,
				text, (int) n, got, (int) expected_len, expected);
	must(n == expected_len && memcmp(got, expected, n) == 0);
	simdup_free(got);
	free(copy);
}

static void
check_text(Input *in)
{
	Text text;
	Result result = {.used = 0};

	take_characters(in, &text);
	naive_numbers(&text, &result);
	must_be(text.bytes, strlen(text.bytes), result.bytes, result.used);
	must_be(result.bytes, result.used, result.bytes, result.used);
}

/* Write a number below 10,000; zero says whether a zero goes before it. */
static char *
write_section(char *p, unsigned value, bool zero, int old)
{
	static const char *const digits[3][10] =
		{{"零", "一", "二", "三", "四", "五", "六", "七", "八", "九"},
		 {"〇", "壹", "貳", "叁", "肆", "伍", "陸", "柒", "捌", "玖"},
		 {"零", "壹", "貳", "參", "肆", "伍", "陸", "柒", "捌", "玖"}};
	static const char *const units[3][4] = {{"", "十", "百", "千"},
											{"", "拾", "佰", "仟"},
											{"", "拾", "佰", "仟"}};
	unsigned power = 1000;

	for (int i = 3; i >= 0; i--, power /= 10)
	{
		unsigned digit = value / power % 10;

		if (digit > 0)
		{
			if (zero)
				p = stpcpy(p, digits[old][0]);
			p = stpcpy(p, digits[old][digit]);
			p = stpcpy(p, units[old][i]);
		}
		/* one zero for any number of them */
		zero = digit == 0 && (zero || value / power > 0);
	}
	return p;
}

/* Write a number below 10^8. */
static char *
write_half(char *p, uint64_t value, bool zero, int old)
{
	unsigned high = (unsigned) (value / 10000);
	unsigned low = (unsigned) (value % 10000);

	if (high > 0)
	{
		p = write_section(p, high, zero, old);
		p = stpcpy(p, old ? "萬" : "万");
		zero = false;
	}
	if (low == 0)
		return p;
	return write_section(p, low, zero || (high > 0 && low < 1000), old);
}

static void
check_chinese(Input *in)
{
	/* any number of places, so that there are small ones */
	uint64_t value =
		take_word(in) % UINT64_C(10000000000000000) >> (take_byte(in) & 63);
	int old = take_byte(in) % 3; /* numerals of banks, also of Taiwan */
	uint64_t high = value / 100000000;
	uint64_t low = value % 100000000;
	char text[400];
	char expected[40];
	char *p = text;

	if (value < 11)
		return;
	if (high > 0)
	{
		p = write_half(p, high, false, old);
		p = stpcpy(p, old ? "億" : "亿");
	}
	if (low > 0)
		p = write_half(p, low, high > 0 && low < 10000000, old);
	sprintf(expected, "%llu", (unsigned long long) value);
	must_be(text, (size_t) (p - text), expected, strlen(expected));
}

/* Numerals, units and digits in any order: each is read, and digits come out. */
static void
check_numerals(Input *in)
{
	static const char *const pieces[] = {"〇", "零", "一", "两", "三", "九",
										 "十", "百", "千", "万", "亿", "5",
										 ".",  "x",	 "￥", " ",	 "○",  "0",
										 "O",  "年", "廿", "m",	 "2",  "½",
										 "參", "拾"};
	char text[2000];
	char *p = text;
	size_t n;
	size_t n_again;
	char *got;
	char *again;

	for (int i = 0; i < 300 && input_left(in) > 0; i++)
		p = stpcpy(p, pieces[take_byte(in) % 26]);
	got = simdup_text_numbers(text, (size_t) (p - text), true, &n);
	again = simdup_text_numbers(got, n, true, &n_again);
	must(n == n_again && memcmp(got, again, n) == 0);
	simdup_free(got);
	simdup_free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in = input_of(data, size);

	switch (take_byte(&in) % 3)
	{
		case 0:
			check_text(&in);
			break;
		case 1:
			check_chinese(&in);
			break;
		default:
			check_numerals(&in);
	}
	return 0;
}
