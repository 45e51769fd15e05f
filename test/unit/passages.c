/*
 * passages.c
 *	  Own and common passages: sentences planted in a form, in four scripts,
 *	  and cases by hand.
 */
#define _GNU_SOURCE
#include "core/compare/passages.h"
#include "core/compare/resemblance.h"
#include "core/host.h"
#include "core/unicode/charclass.h"
#include "random.h"
#include "tap.h"

#define MAX_TEXT 40000

static uint64_t state = 1;

static uint64_t
below(uint64_t n)
{
	return next_random_of(&state) % n;
}

static SimdupUtf8
text_of(const char *text)
{
	return (SimdupUtf8){text, strlen(text)};
}

static void
join(const char *text, SimdupPassage *passages, size_t n, char *joined)
{
	*joined = '\0';
	for (size_t i = 0; i < n; i++)
	{
		if (i > 0)
			joined = stpcpy(joined, " … ");
		joined = mempcpy(joined, text + passages[i].from,
						 passages[i].to - passages[i].from);
		*joined = '\0';
	}
	simdup_free(passages);
}

static void
own_text(const char *text, const char *other, char *own)
{
	size_t n;
	SimdupPassage *passages =
		simdup_own_passages(text_of(text), text_of(other), &n);

	join(text, passages, n, own);
}

static void
test_own(const char *text, const char *other, const char *expected)
{
	char own[MAX_TEXT];

	own_text(text, other, own);
	if (!ok(strcmp(own, expected) == 0, "own text of %zu bytes", strlen(own)))
		printf("# got %s\n# expected %s\n", own, expected);
}

static void
test_common(const char *const *contents, size_t n_texts, double share,
			const char *expected)
{
	SimdupUtf8 texts[10];
	char common[MAX_TEXT];
	SimdupPassage *passages;
	size_t which;
	size_t n;

	for (size_t i = 0; i < n_texts; i++)
		texts[i] = text_of(contents[i]);
	passages = simdup_common_passages(texts, n_texts, share, &which, &n);
	join(contents[which], passages, n, common);
	if (!ok(strcmp(common, expected) == 0, "%zu texts, share %g", n_texts,
			share))
		printf("# got %s\n# expected %s\n", common, expected);
}

/* Scripts: letters, what stands between two words, and behind a sentence. */
static const struct
{
	const char *name;
	uint32_t first;
	uint32_t n_letters;
	int letters; /* of a word, at most */
	const char *gap;
	const char *stop;
} scripts[] = {{"Latin", 'a', 26, 8, " ", ". "},
			   {"Arabic", 0x0627, 20, 8, " ", "؟ "},
			   {"Chinese", 0x4E00, 20000, 1, "", "。"},
			   {"Hangul", 0xAC00, 11000, 4, " ", "! "}};

/* Append a sentence of 3 to 20 words, some of them common to all. */
static char *
append_sentence(char *p, int script)
{
	int n = 3 + (int) below(18);

	for (int i = 0; i < n; i++)
	{
		uint64_t word = below(3) == 0 ? below(10) : below(1000000);

		if (i > 0)
			p = stpcpy(p, scripts[script].gap);
		for (int j = 0;
			 j < 1 + (int) (word % (uint64_t) scripts[script].letters); j++)
			p += simdup_utf8_encode(scripts[script].first +
										(uint32_t) ((word * 31 +
													 (uint64_t) j * 7919 *
														 (word + 1)) %
													scripts[script].n_letters),
									(unsigned char *) p);
	}
	p = stpcpy(p, scripts[script].stop);
	return p;
}

/* Own text of a letter's second sentence, after marks, lines and items of lists. */
static void
test_sentences(void)
{
	static const char *const marks[] = {".",  "!",	"?",  ":", ";", "။",  "።",
										"։",  "།",	"॥",  "।", "｡", "．", "。",
										"！", "？", "؟",  "۔", "។", "‼",  "⁇",
										"﹒", "…",	"；", "："};
	static const struct
	{
		const char *begins; /* an item of a list */
		const char *number; /* of it, which is a word */
	} items[] = {{"- ", ""},	 {"> * ", ""},	   {"\t• ", ""},
				 {"— ", ""},	 {"2. ", "2. "},   {"12) ", "12) "},
				 {"b) ", "b) "}, {"３．", "３．"}, {"2、", "2、"}};
	static const char *const no_items[] = {"-",	   "123. ", "2.5 ", "2.",
										   "b. c", "c ",	"*",	"bb)"};
	char text[200];
	char form[200];

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
	{
		const char *m = marks[i];
		char expected[40];

		sprintf(text, "aa bb%s cc dd%s ee ff%s", m, m, m);
		sprintf(form, "aa bb%s ee ff%s", m, m);
		sprintf(expected, "cc dd%s", m);
		test_own(text, form, expected);
	}
	test_own("aa bb\u2028cc dd\u2028ee ff", "aa bb\u2028ee ff", "cc dd");
	test_own("aa bb\u2029cc dd\u2029ee ff", "aa bb\u2029ee ff", "cc dd");
	/* commas end nothing, nor do points in numbers */
	test_own("aa bb، cc dd، ee ff،", "aa bb، ee ff،", "aa bb، cc dd، ee ff،");
	test_own("aa ３．５ bb. cc dd", "aa ３．５ bb. ee ff", "cc dd");
	test_own("aa ３．５ bb", "aa ３．", "aa ３．５ bb");
	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
	{
		char expected[40];

		sprintf(text, "aa bb\n%scc dd\n- ee ff", items[i].begins);
		sprintf(form, "aa bb\n- ee ff");
		sprintf(expected, "%scc dd", items[i].number);
		test_own(text, form, expected);
	}
	for (size_t i = 0; i < sizeof(no_items) / sizeof(no_items[0]); i++)
	{
		sprintf(text, "aa bb\n%scc", no_items[i]);
		test_own(text, "aa bb", text);
	}
}

/* A template with one to three own sentences: exactly these come out. */
static bool
planted_is_found(int script)
{
	static char form[MAX_TEXT];
	static char content[MAX_TEXT];
	static char expected[MAX_TEXT];
	static char own[MAX_TEXT];
	int n_sentences = 3 + (int) below(10);
	int n_own = 1 + (int) below(3);
	int at[3];
	char *t = form;
	char *c = content;
	char *e = expected;
	bool joined = false;

	*e = '\0';
	for (int i = 0; i < n_own; i++)
		at[i] = (int) below((uint64_t) n_sentences + 1);
	for (int i = 0; i <= n_sentences; i++)
	{
		char *start = t;

		for (int j = 0; j < n_own; j++)
			if (at[j] == i)
			{
				char *sentence = c;

				c = append_sentence(c, script);
				/* own sentences in a row are one passage */
				e = stpcpy(e, e == expected ? "" : joined ? "" : " … ");
				e = mempcpy(e, sentence, (size_t) (c - sentence));
				*e = '\0';
				joined = true;
			}
		if (joined && e[-1] == ' ' && i < n_sentences)
			*--e = '\0';
		if (i == n_sentences)
			break;
		joined = false;
		t = append_sentence(t, script);
		c = mempcpy(c, start, (size_t) (t - start));
	}
	*t = *c = '\0';
	if (e > expected && e[-1] == ' ')
		*--e = '\0';
	own_text(content, form, own);
	if (strcmp(own, expected) != 0)
		printf("# template %s\n# content %s\n# got %s\n# expected %s\n", form,
			   content, own, expected);
	return strcmp(own, expected) == 0;
}

/* The rest of a text without two passages, and the least length of a run. */
static void
test_without(const char *text, const char *expected)
{
	static const char *const passages[] =
		{"This message is confidential, and meant for the person named above only. Please delete it if you are not.",
		 "Sent from my phone"};
	SimdupBoilerplate boilerplate = {0};
	char rest[MAX_TEXT];
	SimdupPassage *kept;
	size_t n;

	for (int i = 0; i < 2; i++)
		simdup_add_boilerplate(&boilerplate, text_of(passages[i]));
	kept = simdup_without_boilerplate(text_of(text), &boilerplate, &n);
	join(text, kept, n, rest);
	simdup_wordset_free(&boilerplate.runs);
	if (!ok(strcmp(rest, expected) == 0, "%zu bytes without boilerplate",
			strlen(text)))
		printf("# got %s\n# expected %s\n", rest, expected);
}

/* Texts that share 15 words share a sampled run, wherever the words stand. */
static bool
shared_run_is_sampled(int script)
{
	char texts[2][MAX_TEXT];
	SimdupHashes samples[2] = {{0}, {0}};
	uint64_t digests[2];
	char passage[MAX_TEXT] = "";
	size_t n_common;

	for (int i = 0; i < 15; i++)
		sprintf(passage + strlen(passage), " %s%x", scripts[script].name,
				(unsigned) below(1000000));
	for (int i = 0; i < 2; i++)
	{
		char *p = append_sentence(texts[i], script);

		p = stpcpy(p, passage);
		append_sentence(stpcpy(p, " "), script);
		simdup_sample_runs(text_of(texts[i]), 15, &samples[i], &digests[i]);
	}
	n_common = simdup_hashes_common(&samples[0], &samples[1]);
	for (int i = 0; i < 2; i++)
		simdup_hashes_free(&samples[i]);
	return n_common > 0 && digests[0] != digests[1];
}

/* Append n words of a text's own. */
static char *
append_words(char *p, int n)
{
	for (int i = 0; i < n; i++)
		p += sprintf(p, "%s%x", i > 0 ? " " : "", (unsigned) below(1U << 31));
	return p;
}

/* What letters are made of: own words, the passage, words of some of them, own words. */
static const struct
{
	const char *what;
	int before; /* words of a greeting with them, if it is negative */
	int passage;
	int some; /* words that two letters in three have behind the passage */
	int behind;
	bool refused; /* the passage begins with one that is a letter */
	bool is_boilerplate;
} shared_kinds[] = {
	{"a footer", 60, 40, 0, 0, false, true},
	{"a footer and a signature", 60, 40, 0, 20, false, true},
	{"a footer after a letter's beginning", 60, 40, 0, 20, true, true},
	{"a passage in the middle", 60, 40, 0, 40, false, false},
	{"a header, shorter", 0, 15, 0, 60, false, true},
	{"a header, longer", 0, 90, 0, 60, false, true},
	{"a letter that some added to", 0, 60, 0, 0, false, false},
	{"a letter and its signature", 0, 60, 0, 20, false, false},
	{"a letter with a greeting", -2, 60, 0, 0, false, false},
	{"a letter with a greeting and a signature", -2, 60, 0, 20, false, false},
	{"a footer of short texts", 3, 33, 0, 0, false, true},
	{"a footer of short texts with signatures", 4, 33, 0, 10, false, true},
	{"a long footer of very short texts", 3, 90, 0, 0, false, false},
	{"a footer of no texts", 1, 33, 0, 0, false, false},
	{"a letter of which some are cut", 4, 20, 30, 0, false, false},
	{"the end of a letter", 4, 33, 0, 0, true, false},
};

/*
 * Letters with a footer: the footer is boilerplate. Copies of one letter that some
 * senders added to have none.
 */
static void
test_shared(int kind)
{
	static char texts[12][MAX_TEXT];
	SimdupUtf8 list[12];
	char passage[MAX_TEXT];
	char rest[MAX_TEXT];
	SimdupBoilerplate refused = {0};
	SimdupPassage *passages;
	bool is_boilerplate;
	size_t which;
	size_t n;
	char *end = append_words(passage, 10);

	if (shared_kinds[kind].refused)
		simdup_add_boilerplate(&refused, text_of(passage));
	append_words(stpcpy(end, " "), shared_kinds[kind].passage - 10);
	*rest = '\0';
	append_words(rest, shared_kinds[kind].some);
	for (int i = 0; i < 12; i++)
	{
		char *p = texts[i];

		if (shared_kinds[kind].before < 0)
			p = stpcpy(p, "Dear ");
		p = stpcpy(append_words(p, abs(shared_kinds[kind].before)), ", ");
		p = stpcpy(stpcpy(p, passage), " ");
		if (i % 3 > 0)
			p = stpcpy(stpcpy(p, rest), " ");
		append_words(p, shared_kinds[kind].behind);
		list[i] = text_of(texts[i]);
	}
	passages = simdup_shared_passages(list, 12, false, &refused, &which,
									  &is_boilerplate, &n);
	ok(is_boilerplate == shared_kinds[kind].is_boilerplate && n == 1 &&
		   texts[which] + passages[0].from == strstr(texts[which], passage),
	   "%s: %s", shared_kinds[kind].what,
	   is_boilerplate ? "boilerplate" : "none");
	simdup_free(passages);
	simdup_wordset_free(&refused.runs);
}

/*
 * Letters with a footer and five words that all have among their own. Some letters are
 * long. The verdict is the same in any order of the letters.
 */
static void
test_long_among_short(bool long_first)
{
	char *texts[32];
	SimdupUtf8 list[32];
	char footer[MAX_TEXT];
	SimdupBoilerplate refused = {0};
	bool is_boilerplate;
	size_t which;
	size_t n;

	append_words(footer, 150);
	for (int i = 0; i < 32; i++)
	{
		bool is_long = long_first ? i < 4 : i >= 28;
		char *p = texts[i] = simdup_alloc(200000);

		for (int j = 0; j < 5; j++)
			p += sprintf(p, "common%d %x ", j, (unsigned) below(1U << 31));
		p = append_words(p, is_long ? 17000 : 4);
		stpcpy(stpcpy(p, " "), footer);
		list[i] = text_of(texts[i]);
	}
	simdup_free(simdup_shared_passages(list, 32, false, &refused, &which,
									   &is_boilerplate, &n));
	ok(is_boilerplate && n == 1, "a footer of short letters and long ones%s",
	   long_first ? ", these first" : "");
	for (int i = 0; i < 32; i++)
		simdup_free(texts[i]);
}

int
main(void)
{
	static const char form[] =
		"Dear council,\nthe lamp at the corner of Fish Street has been dark since 5 May. Please mend it before the winter. Thank you.";
	static const char *const letters[] =
		{"Dear Sir! The lamp at the corner of Fish Street is dark. It has to be mended soon, please.",
		 "Hello. The lamp at the corner of FISH STREET is dark. I fell there.",
		 "The lamp at the corner of Fish Street is dark. It has to be mended soon, I think.",
		 "The bus is late."};
	static const char *const cut[] =
		{"The lamp at the corner is dark.",
		 "I agree. The lamp at the corner is dark. Please mend it before the winter.",
		 "THE LAMP at the corner is dark. Please mend it before the winter.",
		 "Please mend it before the winter. Please mend it before the winter. Please!"};

	test_own(form, form, "");
	test_own(form, "", form);
	test_own("", form, "");
	test_own("***", form, "");
	test_own("Dear council,\nthe lamp at the corner of Fish Street has been dark since 5 May. My mother (she is 80) fell there. Please mend it before the winter. Thank you.",
			 form, "My mother (she is 80) fell there.");
	test_own("Dear Mrs Lee,\nthe lamp at the corner of Fish Street has been dark since 3 June. PLEASE mend it before the winter! Thank you.",
			 form, "Dear Mrs Lee, … 3 June.");
	/* single words of the template are no reason to leave them out */
	test_own("Thank you. The bus to Fish Street has been late since May, please see to it. Thank you.",
			 form,
			 "The bus to Fish Street has been late since May, please see to it.");
	/* an own sentence that begins as the template goes on */
	test_own("The lamp at the corner of Fish Street has been dark since 5 May. Please come. Please mend it before the winter.",
			 form, "Please come.");
	/* lines end where a mail program ends them, paragraphs at an empty line */
	test_own("> Dear council,\r\n> the lamp at the corner of Fish\r\n> Street has been dark since 5 May. Please mend it before the win-\r\n> ter. Thank\r\n> > you.",
			 form, "");
	test_own("Dear council, the lamp at the corner of Fish\n> \n> Street has been dark since 5 May. Please mend it before the winter. Thank you.",
			 form, "");
	test_own("A new line\nis no sentence. Two are\n>\nof their own.",
			 "A new line is no sentence. Two are of their own.",
			 "Two are\n>\nof their own.");
	test_own("The well-known lamp costs 10-12 pounds",
			 "The wellknown lamp costs 1012 pounds",
			 "The well-known lamp costs 10-12 pounds");
	test_own("学校门口的路灯坏了三个月。我母亲上周在那里摔倒了。请尽快派人维修路灯。",
			 "學校門口的路燈壞了三個月。請盡快派人維修路燈。",
			 "我母亲上周在那里摔倒了。");
	/* of a sentence, one or two characters without blanks are no passage */
	test_own("学校门口的路灯坏了两三个月。请尽快派人维修路灯。谢谢。",
			 "學校門口的路燈壞了很久。請盡快派人維修那路燈。",
			 "两三个月。 … 谢谢。");
	test_own("学校门口的路灯坏了五天一直没人修理。请尽快派人维修路灯。",
			 "学校门口的路灯坏了一年一直没人修理。请尽快派人维修路灯。", "");
	test_own("学校门口的路灯坏了5天一直没人修理。请尽快派人维修路灯。",
			 "学校门口的路灯坏了8年一直没人修理。请尽快派人维修路灯。", "5天");
	test_own("路灯", "学校", "路灯");
	test_sentences();
	test_own("“Help”, she said: mend it before the winter comes to us.", form,
			 "“Help”, she said: … comes to us.");
	test_own("E\xcc\x81te\xcc\x81 2024", "hiver", "E\xcc\x81te\xcc\x81 2024");
	/* in another form, and to the end of the last character's marks */
	test_own("バスか\u3099来ない。道か\u3099暗くて誰も歩けない。ﾍﾞﾝﾁか\u3099",
			 "バスが来ない。ベンチがある。",
			 "道か\u3099暗くて誰も歩けない。ﾍﾞﾝﾁか\u3099");
	test_own("\u1103\u1169\u1105\u1169\u1100\u1161 어둡습니다. 버스가 "
			 "늦어요 \u1112\u1161\u11ab.",
			 "도로가 어둡습니다.", "버스가 늦어요 \u1112\u1161\u11ab.");
	/* a word is hyphenated at the end of a line, and of a page */
	test_own("The drain is block-\ned. The foun-\n\ftain is dry.",
			 "The drain is blocked. The fountain is dry.", "");
	/* a soft hyphen is nothing, a hyphen parts jamo */
	test_own("가\u00ad\u11a8 나. 가\u2010\u11a8 다.", "각 나. 각 다.",
			 "가\u2010\u11a8 다.");
	test_common(letters, 4, 0.5,
				"The lamp at the corner of Fish Street is dark. It has to be mended soon,");
	test_common(letters, 3, 1,
				"The lamp at the corner of Fish Street is dark.");
	test_common(letters, 4, 1, "");
	test_common(letters, 1, 1, letters[0]);
	test_common(letters, 2, 0.1,
				"The lamp at the corner of Fish Street is dark.");
	/* the first is cut, and the last one quotes another twice */
	test_common(cut, 4, 0.5,
				"The lamp at the corner is dark. Please mend it before the winter.");
	for (int script = 0; script < 4; script++)
	{
		int n_found = 0;

		for (int i = 0; i < 1000; i++)
			n_found += planted_is_found(script);
		ok(n_found == 1000, "%s: %d of 1000 planted sentences come out exactly",
		   scripts[script].name, n_found);
	}
	for (int script = 0; script < 4; script++)
	{
		int n_found = 0;

		for (int i = 0; i < 1000; i++)
			n_found += shared_run_is_sampled(script);
		ok(n_found == 1000, "%s: %d of 1000 shared passages share a run",
		   scripts[script].name, n_found);
	}
	for (size_t i = 0; i < sizeof(shared_kinds) / sizeof(shared_kinds[0]); i++)
		test_shared((int) i);
	test_long_among_short(true);
	test_long_among_short(false);
	test_without("", "");
	test_without("*** as  it is\n", "*** as  it is\n");
	test_without("Mend it.\n\n-- \nTHIS MESSAGE is confi-\n> dential and meant for the per-\n> son named above only; please delete it if you are not!\nP.S. Soon.",
				 "Mend it. … P.S. Soon.");
	test_without("sent from my Phone.", "");
	test_without("Sent from my phones", "Sent from my phones");
	/* a passage that was cut is taken out from eight words on */
	test_without("Mend it. This message is confidential, and meant for the",
				 "Mend it.");
	test_without("Mend it. This message is confidential, and meant for",
				 "Mend it. This message is confidential, and meant for");
	return done_testing();
}
