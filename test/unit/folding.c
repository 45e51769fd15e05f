/*
 * folding.c
 *	  The folding of profile 2: every code point, golden vectors, and what joins
 *	  in texts longer than any buffer.
 */
#include "core/compare/passages.h"
#include "core/fingerprint/hash.h"
#include "core/fingerprint/vectors.h"
#include "core/host.h"
#include "core/unicode/fold.h"
#include "minhash64.h"
#include "random.h"
#include "tap.h"

#define MAX_FOLDED 4000

typedef struct Folded
{
	char text[MAX_FOLDED]; /* with 0 at the end */
	size_t used;
	char classes[MAX_FOLDED]; /* a digit for each character */
	size_t n;
} Folded;

/* A SimdupFoldSink. */
static void
append(void *arg, uint32_t cp, SimdupCharClass char_class)
{
	Folded *folded = arg;

	folded->used +=
		(size_t) simdup_utf8_encode(cp, (unsigned char *) folded->text +
											folded->used);
	folded->classes[folded->n++] = (char) ('0' + char_class);
}

/* A SimdupFoldReplacer. */
static void
replace_last(void *arg, uint32_t cp)
{
	Folded *folded = arg;

	do
		folded->used--;
	while ((folded->text[folded->used] & 0xC0) == 0x80);
	folded->n--;
	append(arg, cp, (SimdupCharClass) (folded->classes[folded->n] - '0'));
}

/* Fold UTF-8. */
static void
fold(const char *text, size_t len, Folded *folded)
{
	const unsigned char *p = (const unsigned char *) text;
	const unsigned char *end = p + len;
	uint32_t last = 0;
	int char_len;

	folded->used = folded->n = 0;
	for (; p < end; p += char_len)
		simdup_fold(simdup_utf8_decode(p, end, &char_len), &last, append,
					replace_last, folded);
	folded->text[folded->used] = '\0';
}

static void
fold_char(uint32_t cp, Folded *folded)
{
	unsigned char utf8[SIMDUP_MAX_UTF8];

	fold((char *) utf8, (size_t) simdup_utf8_encode(cp, utf8), folded);
}

static bool
folds_to(uint32_t cp, uint32_t expected)
{
	Folded folded;
	unsigned char utf8[SIMDUP_MAX_UTF8];

	fold_char(cp, &folded);
	return folded.used == (size_t) simdup_utf8_encode(expected, utf8) &&
		   memcmp(folded.text, utf8, folded.used) == 0;
}

/*
 * The expected value is of lines that Folding.pm of test/t wrote, straight from
 * the rule and Unicode's files: the folding of each code point, and the classes.
 */
static void
test_tables(void)
{
	size_t size = 0x110000 * (size_t) 8;
	char *lines = malloc(size);
	size_t used = 0;
	size_t longest = 0;
	int n_unstable = 0;

	if (lines == NULL)
		abort();
	for (uint32_t cp = 0; cp < 0x110000; cp++)
	{
		Folded folded;
		Folded again;

		if (cp >= 0xD800 && cp <= 0xDFFF)
			continue;
		fold_char(cp, &folded);
		memcpy(lines + used, folded.text, folded.used);
		used += folded.used;
		memcpy(lines + used, folded.classes, folded.n);
		used += folded.n;
		lines[used++] = '\n';
		longest = folded.n > longest ? folded.n : longest;
		fold(folded.text, folded.used, &again);
		n_unstable += folded.used != again.used ||
					  memcmp(folded.text, again.text, again.used) != 0;
	}
	is_u64(simdup_city64(lines, used), UINT64_C(0x38e07d0776dbb5a2),
		   "all of Unicode folds as it should");
	free(lines);
	ok(longest == SIMDUP_MAX_FOLDED, "the longest has %zu characters", longest);
	ok(n_unstable == 0, "%d change when they are folded again", n_unstable);
}

/* Check whether the code points fold to themselves. */
static void
test_same(const char *name, uint32_t first, uint32_t last)
{
	int n_others = 0;

	for (uint32_t cp = first; cp <= last; cp++)
		n_others += !folds_to(cp, cp);
	ok(n_others == 0, "%s: %d fold to others", name, n_others);
}

static void
test_ranges(void)
{
	bool ascii = true;
	int n_han = 0;

	for (uint32_t cp = 0; cp < 0x80; cp++)
		ascii = ascii && folds_to(cp, cp >= 'A' && cp <= 'Z' ? cp + 32 : cp);
	ok(ascii, "ASCII folds to its lower case");
	test_same("Hangul", 0xAC00, 0xD7A3);
	test_same("hiragana", 0x3041, 0x3096);
	test_same("katakana", 0x30A1, 0x30FE);
	for (uint32_t cp = 0x4E00; cp <= 0x9FFF; cp++)
		n_han += folds_to(cp, cp);
	ok(n_han == 16212, "%d do", n_han);
	is_u64(simdup_fold_number(SIMDUP_INVALID_CHAR), SIMDUP_CHAR_SEPARATOR,
		   "what is no character separates");
}

/* The table of units says the same as the others, of all but few code points. */
static void
test_units(void)
{
	int n_wrong = 0;
	int n_slow = 0;

	for (uint32_t cp = 0; cp < 0x10000; cp++)
	{
		SimdupFoldProperty property =
			simdup_fold_properties[simdup_fold_number(cp)];
		uint32_t folded = (uint32_t) ((int32_t) cp + property.value);
		unsigned char bytes[SIMDUP_MAX_UTF8] = {0};
		uint32_t unit = simdup_fold_units[cp];

		(void) simdup_utf8_encode(folded, bytes);
		if (unit == SIMDUP_FOLD_SLOW)
			n_slow++;
		else if (property.char_class >= SIMDUP_FOLD_LISTED)
			n_wrong += property.n > 0 || unit != SIMDUP_FOLD_NOTHING;
		else if (property.char_class == SIMDUP_CHAR_SEPARATOR)
			n_wrong += unit != SIMDUP_FOLD_SEPARATOR;
		else
			n_wrong += unit != simdup_load32((char *) bytes);
	}
	ok(n_wrong == 0, "%d units are others", n_wrong);
	ok(n_slow < 5000, "%d need the other tables", n_slow);
}

static void
test_vectors(void)
{
	static const struct
	{
		const char *text;
		const char *folded;
		uint64_t chars;
		uint64_t words;
	} golden[] = {
		/* Turkish: ı, İ (capitals equal the small letters) */
		{"Balık sokağının köşesi karanlık", "balik sokaginin kosesi karanlik",
		 UINT64_C(0x0f0cdbc40bd90fc7), UINT64_C(0xe3c5a655cf99b6d9)},
		{"BALIK SOKAĞININ KÖŞESİ KARANLIK", "balik sokaginin kosesi karanlik",
		 UINT64_C(0x0f0cdbc40bd90fc7), UINT64_C(0xe3c5a655cf99b6d9)},
		{"balik sokaginin kosesi karanlik", "balik sokaginin kosesi karanlik",
		 UINT64_C(0x0f0cdbc40bd90fc7), UINT64_C(0xe3c5a655cf99b6d9)},
		/* Letters with a stroke, hook, tail (by name) */
		{"łódź żółć Łomża", "lodz zolc lomza", UINT64_C(0xc0e48608f2aef8d5),
		 UINT64_C(0x9c21304eaa6e1ed8)},
		{"lodz zolc Lomza", "lodz zolc lomza", UINT64_C(0xc0e48608f2aef8d5),
		 UINT64_C(0x9c21304eaa6e1ed8)},
		{"smørrebrød på hjørnet", "smorrebrod pa hjornet",
		 UINT64_C(0xff1b7fa01940cd68), UINT64_C(0xc7f897c755cd4fd6)},
		{"smorrebrod pa hjornet", "smorrebrod pa hjornet",
		 UINT64_C(0xff1b7fa01940cd68), UINT64_C(0xc7f897c755cd4fd6)},
		{"đường đi Đà Nẵng", "duong di da nang", UINT64_C(0xf007934972a12236),
		 UINT64_C(0x0e901be2008b4a25)},
		{"duong di Da Nang", "duong di da nang", UINT64_C(0xf007934972a12236),
		 UINT64_C(0x0e901be2008b4a25)},
		{"ħafna ħut Ħamrun", "hafna hut hamrun", UINT64_C(0xac5c20592437f6ec),
		 UINT64_C(0xa048117eed2582e0)},
		{"hafna hut Hamrun", "hafna hut hamrun", UINT64_C(0xac5c20592437f6ec),
		 UINT64_C(0xa048117eed2582e0)},
		{"ƙwarai ɗan ɓera ƴanci", "kwarai dan bera yanci",
		 UINT64_C(0x5b773dce9df77d23), UINT64_C(0xeef7212ae0314ca3)},
		{"kwarai dan bera yanci", "kwarai dan bera yanci",
		 UINT64_C(0x5b773dce9df77d23), UINT64_C(0xeef7212ae0314ca3)},
		{"ŧ ǥ ƶ ɉ ɏ ⱥ", "t g z j y a", UINT64_C(0xf10dc7be03cb13d8),
		 UINT64_C(0x3ee8bc4a85d33016)},
		{"t g z j y a", "t g z j y a", UINT64_C(0xf10dc7be03cb13d8),
		 UINT64_C(0x3ee8bc4a85d33016)},
		/* Ligatures and letters of the list */
		{"Ærø œuvre cœur", "aero oeuvre coeur", UINT64_C(0x9a8b010b8f3dcfd6),
		 UINT64_C(0xbb5e89201209f968)},
		{"AErO oeuvre coeur", "aero oeuvre coeur", UINT64_C(0x9a8b010b8f3dcfd6),
		 UINT64_C(0xbb5e89201209f968)},
		{"Þetta er hlið og þak", "thetta er hlid og thak",
		 UINT64_C(0xc7f5e7e90db21469), UINT64_C(0xac69392091b2c737)},
		{"thetta er hlid og thak", "thetta er hlid og thak",
		 UINT64_C(0xc7f5e7e90db21469), UINT64_C(0xac69392091b2c737)},
		{"ŋutilã ɛkɛ ɔkɔ", "nutila eke oko", UINT64_C(0x9fe7011ef2c01ff6),
		 UINT64_C(0x33f2666e58716f83)},
		{"nutila eke oko", "nutila eke oko", UINT64_C(0x9fe7011ef2c01ff6),
		 UINT64_C(0x33f2666e58716f83)},
		{"Azərbaycan kəndi", "azerbaycan kendi", UINT64_C(0xcc88798ea708bdd8),
		 UINT64_C(0xfd80776865b4b481)},
		{"Azerbaycan kendi", "azerbaycan kendi", UINT64_C(0xcc88798ea708bdd8),
		 UINT64_C(0xfd80776865b4b481)},
		/* Small capitals, styled letters */
		{"ʟɪᴍɪᴛᴇᴅ ᴏꜰꜰᴇʀ", "limited offer", UINT64_C(0xc5ab3fef7174fd7e),
		 UINT64_C(0x97d3a77d916ed13f)},
		{"𝐥𝐢𝐦𝐢𝐭𝐞𝐝 𝒐𝒇𝒇𝒆𝒓", "limited offer", UINT64_C(0xc5ab3fef7174fd7e),
		 UINT64_C(0x97d3a77d916ed13f)},
		{"limited offer", "limited offer", UINT64_C(0xc5ab3fef7174fd7e),
		 UINT64_C(0x97d3a77d916ed13f)},
		/* Apostrophes */
		{"сімʼя обʼєднання", "сім'я об'єднання", UINT64_C(0x443fd22f3d2909e6),
		 UINT64_C(0xf22b8ef3561e45c2)},
		{"сім'я об'єднання", "сім'я об'єднання", UINT64_C(0x443fd22f3d2909e6),
		 UINT64_C(0xf22b8ef3561e45c2)},
		{"сім’я об’єднання", "сім’я об’єднання", UINT64_C(0x443fd22f3d2909e6),
		 UINT64_C(0xf22b8ef3561e45c2)},
		{"oʻzbek togʻ", "o'zbek tog'", UINT64_C(0xee813c77dd9225e0),
		 UINT64_C(0xfe008995c83ab66e)},
		{"o'zbek tog'", "o'zbek tog'", UINT64_C(0xee813c77dd9225e0),
		 UINT64_C(0xfe008995c83ab66e)},
		/* Cyrillic: ё, й, ї, ў as before; descender, stroke, upturn by name */
		{"ёжик мой", "ежик мои", UINT64_C(0x23e23e695a87109c),
		 UINT64_C(0x140336e1ad60dedc)},
		{"ежик мои", "ежик мои", UINT64_C(0x23e23e695a87109c),
		 UINT64_C(0x140336e1ad60dedc)},
		{"\u0438\u0306 \u0435\u0308", "и е", UINT64_C(0xab8144a3fde154e9),
		 UINT64_C(0x05549cb4c4663e35)},
		{"й ё", "и е", UINT64_C(0xab8144a3fde154e9),
		 UINT64_C(0x05549cb4c4663e35)},
		{"қишлоқ ғалаба ҳаво", "кишлок галаба хаво",
		 UINT64_C(0x6a224445c37d72da), UINT64_C(0x9dde763615b86aba)},
		{"кишлок галаба хаво", "кишлок галаба хаво",
		 UINT64_C(0x6a224445c37d72da), UINT64_C(0x9dde763615b86aba)},
		{"ґанок", "ганок", UINT64_C(0x639b28a09df64627),
		 UINT64_C(0x763406ea7f76eebe)},
		{"ганок", "ганок", UINT64_C(0x639b28a09df64627),
		 UINT64_C(0x763406ea7f76eebe)},
		/* Greek as before */
		{"ΟΔΟΣ ΨΑΡΙΏΝ", "οδοσ ψαριων", UINT64_C(0x7211c3f5b9891ca3),
		 UINT64_C(0x44709d9e818933a2)},
		{"οδός ψαριών", "οδοσ ψαριων", UINT64_C(0x7211c3f5b9891ca3),
		 UINT64_C(0x44709d9e818933a2)},
		/* Arabic, Persian, Urdu */
		{"كتابة على المدرسة", "كتابه علي المدرسه", UINT64_C(0x91dfa06b724ada01),
		 UINT64_C(0xd786e2160e8c18ff)},
		{"كتابه علي المدرسه", "كتابه علي المدرسه", UINT64_C(0x91dfa06b724ada01),
		 UINT64_C(0xd786e2160e8c18ff)},
		{"ٱلمدرسة", "المدرسه", UINT64_C(0x5dca220bf5484fc3),
		 UINT64_C(0x749e58d4308b29c7)},
		{"المدرسه", "المدرسه", UINT64_C(0x5dca220bf5484fc3),
		 UINT64_C(0x749e58d4308b29c7)},
		{"کتابی یک کوچه", "كتابي يك كوچه", UINT64_C(0x21a86001d4ec9e83),
		 UINT64_C(0x5dedf1a4583930a7)},
		{"كتابي يك كوچه", "كتابي يك كوچه", UINT64_C(0x21a86001d4ec9e83),
		 UINT64_C(0x5dedf1a4583930a7)},
		{"خانهٔ ما", "خانه ما", UINT64_C(0xa2a63da19d574e12),
		 UINT64_C(0xbda7d2e3511ba1c8)},
		{"خانۀ ما", "خانه ما", UINT64_C(0xa2a63da19d574e12),
		 UINT64_C(0xbda7d2e3511ba1c8)},
		{"ہم یہاں ہیں", "هم يهاں هيں", UINT64_C(0x1b365412b639eed2),
		 UINT64_C(0xf3c39dabb4597770)},
		{"هم يهاں هيں", "هم يهاں هيں", UINT64_C(0x1b365412b639eed2),
		 UINT64_C(0xf3c39dabb4597770)},
		{"لڑکی", "لڑكي", UINT64_C(0xc3d0cb1c9c9d5837),
		 UINT64_C(0xc3d0cb1c9c9d5837)},
		{"لڑکے", "لڑكے", UINT64_C(0x136345af6da44e9c),
		 UINT64_C(0x136345af6da44e9c)},
		{"ﻛﺘﺎﺏ ﷲ", "كتاب الله", UINT64_C(0xa175689f774794cc),
		 UINT64_C(0xcd988ffd889c82d7)},
		{"كتاب الله", "كتاب الله", UINT64_C(0xa175689f774794cc),
		 UINT64_C(0xcd988ffd889c82d7)},
		{"بھائی", "بھايي", UINT64_C(0x786b0c7de4eda25f),
		 UINT64_C(0x00e50af22b1b8cb1)},
		{"بہائی", "بهايي", UINT64_C(0xec569d056dfde36c),
		 UINT64_C(0x3eb9ffd2e04b6a48)},
		/* Hebrew, Yiddish */
		{"שָׁלוֹם", "שלום", UINT64_C(0x4b48020eb2c72226),
		 UINT64_C(0x4b48020eb2c72226)},
		{"שלום", "שלום", UINT64_C(0x4b48020eb2c72226),
		 UINT64_C(0x4b48020eb2c72226)},
		{"ייִדיש װעלט", "יידיש וועלט", UINT64_C(0xd022040206a55617),
		 UINT64_C(0xa35d8e60a6767679)},
		{"יידיש וועלט", "יידיש וועלט", UINT64_C(0xd022040206a55617),
		 UINT64_C(0xa35d8e60a6767679)},
		{"מלך", "מלך", UINT64_C(0xd47c5c4a65ad872f),
		 UINT64_C(0xd47c5c4a65ad872f)},
		{"מלכ", "מלכ", UINT64_C(0x67fee66b722a68b2),
		 UINT64_C(0x67fee66b722a68b2)},
		/* Digits of other scripts */
		{"خط ٠١٢٣٤٥٦٧٨٩", "خط 0123456789", UINT64_C(0x4cb800531498e823),
		 UINT64_C(0xd3cedf299d16bfea)},
		{"خط ۰۱۲۳۴۵۶۷۸۹", "خط 0123456789", UINT64_C(0x4cb800531498e823),
		 UINT64_C(0xd3cedf299d16bfea)},
		{"خط 0123456789", "خط 0123456789", UINT64_C(0x4cb800531498e823),
		 UINT64_C(0xd3cedf299d16bfea)},
		{"मकान १२३", "मकान 123", UINT64_C(0xaf16fe50a2a51dba),
		 UINT64_C(0xda2e1aaf2e7886d9)},
		{"मकान 123", "मकान 123", UINT64_C(0xaf16fe50a2a51dba),
		 UINT64_C(0xda2e1aaf2e7886d9)},
		{"บ้าน ๑๒๓", "บ้าน 123", UINT64_C(0x48a84047f5fc6a94),
		 UINT64_C(0x65078c0ff14f74bb)},
		{"บ้าน 123", "บ้าน 123", UINT64_C(0x48a84047f5fc6a94),
		 UINT64_C(0x65078c0ff14f74bb)},
		{"𝟘𝟙𝟚 ０１２", "012 012", UINT64_C(0xa77f8825e96648c8),
		 UINT64_C(0xe8095a08f2d9ac63)},
		{"012 012", "012 012", UINT64_C(0xa77f8825e96648c8),
		 UINT64_C(0xe8095a08f2d9ac63)},
		{"፩ ❶ 一 Ⅳ", "፩ ❶ 一 iv", UINT64_C(0x2cc5615020d95984),
		 UINT64_C(0x1eda9625ec4d201c)},
		{"፩ ❶ 一 iv", "፩ ❶ 一 iv", UINT64_C(0x2cc5615020d95984),
		 UINT64_C(0x1eda9625ec4d201c)},
		/* Kana: voiced marks are kept */
		{"ベッド", "ベッド", UINT64_C(0xd6083493a63c3b50),
		 UINT64_C(0x92d78cc63f158d94)},
		{"\u30d8\u3099\u30c3\u30c8\u3099", "ベッド",
		 UINT64_C(0xd6083493a63c3b50), UINT64_C(0x92d78cc63f158d94)},
		{"ﾍﾞｯﾄﾞ", "ベッド", UINT64_C(0xd6083493a63c3b50),
		 UINT64_C(0x92d78cc63f158d94)},
		{"ヘ゛ット゛", "ベッド", UINT64_C(0xd6083493a63c3b50),
		 UINT64_C(0x92d78cc63f158d94)},
		{"ヘッド", "ヘッド", UINT64_C(0xa379e1139222f5ab),
		 UINT64_C(0xe3c8c956c98f2784)},
		{"ﾊﾟﾝ", "パン", UINT64_C(0x0f0e2a955f31be4b),
		 UINT64_C(0x0f0e2a955f31be4b)},
		{"パン", "パン", UINT64_C(0x0f0e2a955f31be4b),
		 UINT64_C(0x0f0e2a955f31be4b)},
		{"バン", "バン", UINT64_C(0x0baea9ff75d82fa9),
		 UINT64_C(0x0baea9ff75d82fa9)},
		{"ハン", "ハン", UINT64_C(0x4805262a9ab6984b),
		 UINT64_C(0x4805262a9ab6984b)},
		{"ゔぁ う゛ぁ", "ゔぁ ゔぁ", UINT64_C(0x44cacce372638471),
		 UINT64_C(0xe466bddd298ba57b)},
		{"ゔぁ ゔぁ", "ゔぁ ゔぁ", UINT64_C(0x44cacce372638471),
		 UINT64_C(0xe466bddd298ba57b)},
		{"かゞみ", "かゞみ", UINT64_C(0x0d4b1cce72338ae9),
		 UINT64_C(0x685cdab7691c5622)},
		{"がっこう", "がっこう", UINT64_C(0xc791a85fd9affb91),
		 UINT64_C(0xcb48ffd74998c58f)},
		{"\u304b\u3099\u3063\u3053\u3046", "がっこう",
		 UINT64_C(0xc791a85fd9affb91), UINT64_C(0xcb48ffd74998c58f)},
		{"あ\u3099", "あ\u3099", UINT64_C(0x3edc9345a4ab0c25),
		 UINT64_C(0x3edc9345a4ab0c25)},
		{"ラーメン", "ラーメン", UINT64_C(0x80a816a4c09536da),
		 UINT64_C(0xaffc308bf48a1d4e)},
		{"らーめん", "らーめん", UINT64_C(0x599d52d36a704ebb),
		 UINT64_C(0xe84295ca34490a28)},
		/* Hangul: NFD equals NFC */
		{"한국어 각각", "한국어 각각", UINT64_C(0xb3e333ffa9895009),
		 UINT64_C(0x77683fb9b8a1b760)},
		{"\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165 \u1100\u1161\u11a8\u1100\u1161\u11a8",
		 "한국어 각각", UINT64_C(0xb3e333ffa9895009),
		 UINT64_C(0x77683fb9b8a1b760)},
		{"\uac00\u11a8", "각", UINT64_C(0x78fb5746ef49b58d),
		 UINT64_C(0x78fb5746ef49b58d)},
		{"각", "각", UINT64_C(0x78fb5746ef49b58d),
		 UINT64_C(0x78fb5746ef49b58d)},
		{"ㅋㅋㅠㅠ", "\u110f큐\u1172", UINT64_C(0x6dcdafde6d3a8b60),
		 UINT64_C(0x6dcdafde6d3a8b60)},
		{"ㅋ큐ㅠ", "\u110f큐\u1172", UINT64_C(0x6dcdafde6d3a8b60),
		 UINT64_C(0x6dcdafde6d3a8b60)},
		{"ﾡￂ", "가", UINT64_C(0x057131c4cc79f6e6),
		 UINT64_C(0x057131c4cc79f6e6)},
		{"가", "가", UINT64_C(0x057131c4cc79f6e6),
		 UINT64_C(0x057131c4cc79f6e6)},
		/* Indic: canonical pairs, nukta, candrabindu, chillu, khanda ta */
		{"সোনা কৌ", "সোনা কৌ", UINT64_C(0xefbf2bbf547b7005),
		 UINT64_C(0x6e87254bc469982e)},
		{"\u09b8\u09c7\u09be\u09a8\u09be \u0995\u09c7\u09d7", "সোনা কৌ",
		 UINT64_C(0xefbf2bbf547b7005), UINT64_C(0x6e87254bc469982e)},
		{"கொடி", "கொடி", UINT64_C(0xd89667892b6ca5c8),
		 UINT64_C(0xd89667892b6ca5c8)},
		{"\u0b95\u0bc6\u0bbe\u0b9f\u0bbf", "கொடி", UINT64_C(0xd89667892b6ca5c8),
		 UINT64_C(0xd89667892b6ca5c8)},
		{"ज़रूर फ़ोन हाँ", "जरूर फोन हां", UINT64_C(0x6f3f9e27da78fb95),
		 UINT64_C(0xde1f9c8f0973777c)},
		{"जरूर फोन हां", "जरूर फोन हां", UINT64_C(0x6f3f9e27da78fb95),
		 UINT64_C(0xde1f9c8f0973777c)},
		{"अवन् ൻ", "अवन् ന്", UINT64_C(0x823908e76821b343),
		 UINT64_C(0x2f1d3e9b3aaa3f81)},
		{"അവൻ", "അവന്", UINT64_C(0xbe5cc7d7d73d496f),
		 UINT64_C(0xbe5cc7d7d73d496f)},
		{"അവന്\u200d", "അവന്", UINT64_C(0xbe5cc7d7d73d496f),
		 UINT64_C(0xbe5cc7d7d73d496f)},
		{"അവന്", "അവന്", UINT64_C(0xbe5cc7d7d73d496f),
		 UINT64_C(0xbe5cc7d7d73d496f)},
		{"হঠাৎ", "হঠাত্", UINT64_C(0x514e2e8da62e5401),
		 UINT64_C(0x983b56bad868c87d)},
		{"হঠাত্\u200d", "হঠাত্", UINT64_C(0x514e2e8da62e5401),
		 UINT64_C(0x983b56bad868c87d)},
		{"ಕೋ", "ಕೋ", UINT64_C(0x4b2b298a5e8b0dfd),
		 UINT64_C(0x4b2b298a5e8b0dfd)},
		{"\u0c95\u0cc6\u0cc2\u0cd5", "ಕೋ", UINT64_C(0x4b2b298a5e8b0dfd),
		 UINT64_C(0x4b2b298a5e8b0dfd)},
		/* Thai, Lao */
		{"แม่น้ำ", "เเม่น้ํา", UINT64_C(0x09e75f016c7d0e28),
		 UINT64_C(0x65ade94b4d3cae6b)},
		{"เเม่น้ำ", "เเม่น้ํา", UINT64_C(0x09e75f016c7d0e28),
		 UINT64_C(0x65ade94b4d3cae6b)},
		{"ແມ່ນ", "ເເມ່ນ", UINT64_C(0x0b880b6998488eff),
		 UINT64_C(0xeb5dabeef768af24)},
		{"ເເມ່ນ", "ເເມ່ນ", UINT64_C(0x0b880b6998488eff),
		 UINT64_C(0xeb5dabeef768af24)},
		/* Enclosing marks, keycaps, variation selectors */
		{"1\ufe0f\u20e3 2\u20e3 A\u20dd", "1 2 a", UINT64_C(0x87793d1e1a639401),
		 UINT64_C(0x00243f962583ee7d)},
		{"1 2 A", "1 2 a", UINT64_C(0x87793d1e1a639401),
		 UINT64_C(0x00243f962583ee7d)},
		{"\u0488а\u0489", "а", UINT64_C(0x35bef4ad24a9193c),
		 UINT64_C(0x35bef4ad24a9193c)},
		{"а", "а", UINT64_C(0x35bef4ad24a9193c), UINT64_C(0x35bef4ad24a9193c)},
		/* Chinese: traditional, simplified */
		{"恢復著名的乾淨街道裡", "恢复着名的干净街道里",
		 UINT64_C(0x3adfcfe02ffbad8e), UINT64_C(0xb122eacdff92a2da)},
		{"恢复着名的干净街道里", "恢复着名的干净街道里",
		 UINT64_C(0x3adfcfe02ffbad8e), UINT64_C(0xb122eacdff92a2da)},
		{"恢复著名的干净街道里", "恢复着名的干净街道里",
		 UINT64_C(0x3adfcfe02ffbad8e), UINT64_C(0xb122eacdff92a2da)},
		{"週末遊覽說明，佔用公佈", "周末游览说明,占用公布",
		 UINT64_C(0xcd7e0952d8ee76b7), UINT64_C(0x73b8f16d6992a4cb)},
		{"周末游览说明，占用公布", "周末游览说明,占用公布",
		 UINT64_C(0xcd7e0952d8ee76b7), UINT64_C(0x73b8f16d6992a4cb)},
		{"説 說 说", "说 说 说", UINT64_C(0x54190b47ca418380),
		 UINT64_C(0x73325c7e653c11a7)},
		{"薴", "苎", UINT64_C(0xeb48bfc329f6bff6),
		 UINT64_C(0xeb48bfc329f6bff6)},
		{"苎", "苎", UINT64_C(0xeb48bfc329f6bff6),
		 UINT64_C(0xeb48bfc329f6bff6)},
		{"後 后 髮 發", "后 后 发 发", UINT64_C(0xab14fcddde61ee4b),
		 UINT64_C(0x2f2c1af4982ad2a8)},
		/* Marks of other scripts stay */
		{"ก้า", "ก้า", UINT64_C(0x4c05029e08bede4f),
		 UINT64_C(0xb5f207c4e939f45a)},
		{"กา", "กา", UINT64_C(0x043eff6b09f78003),
		 UINT64_C(0x043eff6b09f78003)},
		{"མི", "མི", UINT64_C(0x0307f44a5427f5ce), UINT64_C(0x0307f44a5427f5ce)},
		{"མ", "མ", UINT64_C(0x51082d9a269743b5), UINT64_C(0x51082d9a269743b5)},
		{"ދިވެހި", "ދިވެހި", UINT64_C(0x7a795cbc1b69bc01),
		 UINT64_C(0x821333b9156ea1f7)},
		{"ദ", "ദ", UINT64_C(0x6116c5de93fef8aa), UINT64_C(0x6116c5de93fef8aa)},
		/* Radicals and strokes (EquivalentUnifiedIdeograph.txt) */
		{"\u2ea0", "民", UINT64_C(0x55d9a8ba0708406e),
		 UINT64_C(0x55d9a8ba0708406e)},
		{"民", "民", UINT64_C(0x55d9a8ba0708406e),
		 UINT64_C(0x55d9a8ba0708406e)},
		{"\u4eba\u2ea0", "人民", UINT64_C(0x485c513e473f5f12),
		 UINT64_C(0x485c513e473f5f12)},
		{"人民", "人民", UINT64_C(0x485c513e473f5f12),
		 UINT64_C(0x485c513e473f5f12)},
		{"\u2ed4\u524d\u2ecb\u8f86\uff0c\u5bb6\u2ed3\u505c\u2ecb",
		 "门前车辆,家长停车", UINT64_C(0x38a35a2e936b3345),
		 UINT64_C(0x420ab8d609764ae2)},
		{"门前车辆,家长停车", "门前车辆,家长停车", UINT64_C(0x38a35a2e936b3345),
		 UINT64_C(0x420ab8d609764ae2)},
		{"\u2ed1\u5e74 \u2ed3\u5e74", "长年 长年", UINT64_C(0x2fec2d3e55bc2f8f),
		 UINT64_C(0x1a1b8f0469e4cf56)},
		{"长年 长年", "长年 长年", UINT64_C(0x2fec2d3e55bc2f8f),
		 UINT64_C(0x1a1b8f0469e4cf56)},
		{"\u2ee2\u8def \u2f69\u8272 \u2ee9\u8272", "马路 白色 黄色",
		 UINT64_C(0x312ec8d2cbdd4f19), UINT64_C(0x750c51cac3a7e959)},
		{"马路 白色 黄色", "马路 白色 黄色", UINT64_C(0x312ec8d2cbdd4f19),
		 UINT64_C(0x750c51cac3a7e959)},
		{"\u2e81 \u2e93 \u2eaf \u2edf \u2ef1", "厂 么 纟 饣 龟",
		 UINT64_C(0xa4acbb1c41375de2), UINT64_C(0x19defd2a38eec715)},
		{"厂 么 纟 饣 龟", "厂 么 纟 饣 龟", UINT64_C(0xa4acbb1c41375de2),
		 UINT64_C(0x19defd2a38eec715)},
		{"\u2e9f \u2ef3 \u2f00", "母 龟 一", UINT64_C(0x2cb2be7c4a759acd),
		 UINT64_C(0x14bf5ba9cdb02fdb)},
		{"母 龟 一", "母 龟 一", UINT64_C(0x2cb2be7c4a759acd),
		 UINT64_C(0x14bf5ba9cdb02fdb)},
		{"\u31d0\u31d1\u31d2 \u31cf", "一丨丿 乀", UINT64_C(0xb7eeb4ddf93159a8),
		 UINT64_C(0x2f0b00f9efea9e52)},
		{"一丨丿 乀", "一丨丿 乀", UINT64_C(0xb7eeb4ddf93159a8),
		 UINT64_C(0x2f0b00f9efea9e52)},
		{"\u2e87\u2e95", "𠘨𫜹", UINT64_C(0x51f7c01de805d31d),
		 UINT64_C(0x51f7c01de805d31d)},
		{"\U00020628\U0002b739", "𠘨𫜹", UINT64_C(0x51f7c01de805d31d),
		 UINT64_C(0x51f7c01de805d31d)},
		{"\u2e80\u31c0", "⺀㇀", UINT64_C(0x0000000000000000),
		 UINT64_C(0x0000000000000000)},
		/* Chinese: links beyond Unihan */
		{"鑑於衞生署就僱員託兒服務展開公眾諮詢",
		 "鉴于卫生署就雇员托儿服务展开公众咨询", UINT64_C(0xd22055622290f98a),
		 UINT64_C(0xc2c530cf036429e0)},
		{"鉴于卫生署就雇员托儿服务展开公众咨询",
		 "鉴于卫生署就雇员托儿服务展开公众咨询", UINT64_C(0xd22055622290f98a),
		 UINT64_C(0xc2c530cf036429e0)},
		{"谘询 钜款 讬付", "咨询 巨款 托付", UINT64_C(0x2847fbd37e90d4ed),
		 UINT64_C(0x385bb23109c79253)},
		{"咨询 巨款 托付", "咨询 巨款 托付", UINT64_C(0x2847fbd37e90d4ed),
		 UINT64_C(0x385bb23109c79253)},
		{"羣眾的牀，山峯，祕書", "群众的床,山峰,秘书",
		 UINT64_C(0xf3d1cd05c2246698), UINT64_C(0x1f777d26927e1cd2)},
		{"群众的床,山峰,秘书", "群众的床,山峰,秘书",
		 UINT64_C(0xf3d1cd05c2246698), UINT64_C(0x1f777d26927e1cd2)},
		{"癡心絶對，産業顔色，閲讀目録", "痴心绝对,产业颜色,阅读目录",
		 UINT64_C(0x68e94e4ab1c732b6), UINT64_C(0x18203e34443612d1)},
		{"痴心绝对,产业颜色,阅读目录", "痴心绝对,产业颜色,阅读目录",
		 UINT64_C(0x68e94e4ab1c732b6), UINT64_C(0x18203e34443612d1)},
		{"讚揚洩漏的墻壁，嚮導餵雞", "赞扬泄漏的墙壁,向导喂鸡",
		 UINT64_C(0x79781b532276d0a3), UINT64_C(0x4f655c6575ae34f3)},
		{"赞扬泄漏的墙壁,向导喂鸡", "赞扬泄漏的墙壁,向导喂鸡",
		 UINT64_C(0x79781b532276d0a3), UINT64_C(0x4f655c6575ae34f3)},
		{"溼地巖石，嶽麓核覈", "湿地岩石,岳麓核核",
		 UINT64_C(0xdd87372d3f6368dd), UINT64_C(0xf95537a2de748113)},
		{"湿地岩石,岳麓核核", "湿地岩石,岳麓核核", UINT64_C(0xdd87372d3f6368dd),
		 UINT64_C(0xf95537a2de748113)},
		{"喫麪，麵包，麫", "吃面,面包,面", UINT64_C(0x3da45aafab7260a9),
		 UINT64_C(0x4edbc3e95bd5955d)},
		{"吃面,面包,面", "吃面,面包,面", UINT64_C(0x3da45aafab7260a9),
		 UINT64_C(0x4edbc3e95bd5955d)},
		{"彷彿揹包，牴觸，薰陶", "仿佛背包,抵触,熏陶",
		 UINT64_C(0x3090c5b9808e6a2c), UINT64_C(0xd9f859e540ea0078)},
		{"仿佛背包,抵触,熏陶", "仿佛背包,抵触,熏陶",
		 UINT64_C(0x3090c5b9808e6a2c), UINT64_C(0xd9f859e540ea0078)},
		{"姪子 店舖 大砲 瑯琊 瞇眼 珮", "侄子 店铺 大炮 琅琊 眯眼 佩",
		 UINT64_C(0x630ad3330f734fea), UINT64_C(0x1c2ec02216eb36b4)},
		{"侄子 店铺 大炮 琅琊 眯眼 佩", "侄子 店铺 大炮 琅琊 眯眼 佩",
		 UINT64_C(0x630ad3330f734fea), UINT64_C(0x1c2ec02216eb36b4)},
		{"鹼 硷 碱", "碱 碱 碱", UINT64_C(0xce2d2d1d7638835c),
		 UINT64_C(0x4709792959b60017)},
		{"碱 碱 碱", "碱 碱 碱", UINT64_C(0xce2d2d1d7638835c),
		 UINT64_C(0x4709792959b60017)},
		{"鍾 鐘 锺", "钟 钟 钟", UINT64_C(0xbab9b480347758e7),
		 UINT64_C(0x3fd6b880c15776fd)},
		{"钟 钟 钟", "钟 钟 钟", UINT64_C(0xbab9b480347758e7),
		 UINT64_C(0x3fd6b880c15776fd)},
		{"敍 敘 叙", "叙 叙 叙", UINT64_C(0x865a32896d712d02),
		 UINT64_C(0x9b59f42593034fcf)},
		{"叙 叙 叙", "叙 叙 叙", UINT64_C(0x865a32896d712d02),
		 UINT64_C(0x9b59f42593034fcf)},
		{"檯 枱 臺 台", "台 台 台 台", UINT64_C(0x27604c698e83d925),
		 UINT64_C(0xec974b23db2496ed)},
		{"台 台 台 台", "台 台 台 台", UINT64_C(0x27604c698e83d925),
		 UINT64_C(0xec974b23db2496ed)},
		{"餘 馀 余", "余 余 余", UINT64_C(0xb851977c6bedc9de),
		 UINT64_C(0xa4fd8957cbb84239)},
		{"余 余 余", "余 余 余", UINT64_C(0xb851977c6bedc9de),
		 UINT64_C(0xa4fd8957cbb84239)},
		{"\ufa5e \uf907", "艹 龟", UINT64_C(0xeedc8a1cef700c82),
		 UINT64_C(0x5ed1e4fce92f4bba)},
		{"艹 龟", "艹 龟", UINT64_C(0xeedc8a1cef700c82),
		 UINT64_C(0x5ed1e4fce92f4bba)},
		/* Kept apart (as before) */
		{"麴 麹 曲", "麹 麹 曲", UINT64_C(0xb81a2e2f119a5656),
		 UINT64_C(0x9f64e96f12d3f859)},
		{"麹 麹 曲", "麹 麹 曲", UINT64_C(0xb81a2e2f119a5656),
		 UINT64_C(0x9f64e96f12d3f859)},
		{"麺 面", "麺 面", UINT64_C(0xa5c29dfa84762093),
		 UINT64_C(0x77dc9761d8b6a163)},
		{"桜 櫻 樱", "桜 樱 樱", UINT64_C(0xdf47f495914e4f6d),
		 UINT64_C(0xd54329599ab4002c)},
		{"座 坐", "座 坐", UINT64_C(0xbbec9b3ccc3752f0),
		 UINT64_C(0x3bf191db7ae24853)},
		{"份 分", "份 分", UINT64_C(0xcd70ce6a21dc4d12),
		 UINT64_C(0x3a5edc2cb48fef2f)},
		{"乾 幹 干", "干 干 干", UINT64_C(0x8a65e1a5575c2a01),
		 UINT64_C(0x2c9f2cdcfddfade8)},
		{"鲇 鯰", "鲇 鲶", UINT64_C(0xcd472de9f282c4b3),
		 UINT64_C(0x3c80ab87e50d8331)},
		/* Latin: look-alikes and saltillo */
		{"pīnyīn hɑ̌o ɡuó", "pinyin hao guo", UINT64_C(0x203dff52c84726e3),
		 UINT64_C(0x7f6c941f47f7333a)},
		{"pinyin hao guo", "pinyin hao guo", UINT64_C(0x203dff52c84726e3),
		 UINT64_C(0x7f6c941f47f7333a)},
		{"Ǝkanǝm", "ekanem", UINT64_C(0xf47a38525b62f2b6),
		 UINT64_C(0x4e7dc969d183b5d6)},
		{"ekanem", "ekanem", UINT64_C(0xf47a38525b62f2b6),
		 UINT64_C(0x4e7dc969d183b5d6)},
		{"kpaꞌa KPAꞋA", "kpa'a kpa'a", UINT64_C(0x708666f7f0159490),
		 UINT64_C(0xe640d71058a7a6a9)},
		{"kpa'a kpa'a", "kpa'a kpa'a", UINT64_C(0x708666f7f0159490),
		 UINT64_C(0xe640d71058a7a6a9)},
		/* Marks in canonical order */
		{"\u1014\u103e\u1004\u103a\u1037", "\u1014\u103e\u1004\u1037\u103a",
		 UINT64_C(0xf2b38ce5bb445470), UINT64_C(0xfe7fd52c64b24615)},
		{"\u1014\u103e\u1004\u1037\u103a", "\u1014\u103e\u1004\u1037\u103a",
		 UINT64_C(0xf2b38ce5bb445470), UINT64_C(0xfe7fd52c64b24615)},
		{"\u0e17\u0e48\u0e38\u0e07", "\u0e17\u0e38\u0e48\u0e07",
		 UINT64_C(0x7a2ecf6fae6280f6), UINT64_C(0xc0d68f0c0fb5d7db)},
		{"\u0e17\u0e38\u0e48\u0e07", "\u0e17\u0e38\u0e48\u0e07",
		 UINT64_C(0x7a2ecf6fae6280f6), UINT64_C(0xc0d68f0c0fb5d7db)},
		{"\u0ea5\u0ec9\u0eb9\u0e81", "\u0ea5\u0eb9\u0ec9\u0e81",
		 UINT64_C(0xaecc7137a63064df), UINT64_C(0x0b7e54855d19b4b9)},
		{"\u0ea5\u0eb9\u0ec9\u0e81", "\u0ea5\u0eb9\u0ec9\u0e81",
		 UINT64_C(0xaecc7137a63064df), UINT64_C(0x0b7e54855d19b4b9)},
		{"\u07cb\u07f2\u07eb", "\u07cb\u07f2\u07eb",
		 UINT64_C(0x40a77474413973c2), UINT64_C(0x40a77474413973c2)},
		{"\u07cb\u07eb\u07f2", "\u07cb\u07f2\u07eb",
		 UINT64_C(0x40a77474413973c2), UINT64_C(0x40a77474413973c2)},
		{"\u0f40\u0f72\u0f71", "\u0f40\u0f71\u0f72",
		 UINT64_C(0xbfb7d8a5902a0eeb), UINT64_C(0xbfb7d8a5902a0eeb)},
		{"\u0f40\u0f71\u0f72", "\u0f40\u0f71\u0f72",
		 UINT64_C(0xbfb7d8a5902a0eeb), UINT64_C(0xbfb7d8a5902a0eeb)},
		{"\U0001e922\U0001e944\U0001e94a", "\U0001e922\U0001e94a\U0001e944",
		 UINT64_C(0x348a69343c4f2c8e), UINT64_C(0x348a69343c4f2c8e)},
		{"\U0001e922\U0001e94a\U0001e944", "\U0001e922\U0001e94a\U0001e944",
		 UINT64_C(0x348a69343c4f2c8e), UINT64_C(0x348a69343c4f2c8e)},
		/* Thai, Lao: nikhahit and niggahita behind the tone */
		{"\u0e19\u0e49\u0e33", "\u0e19\u0e49\u0e4d\u0e32",
		 UINT64_C(0x2057875c58bdc366), UINT64_C(0x606c280b287c87ff)},
		{"\u0e19\u0e4d\u0e49\u0e32", "\u0e19\u0e49\u0e4d\u0e32",
		 UINT64_C(0x2057875c58bdc366), UINT64_C(0x606c280b287c87ff)},
		{"\u0e19\u0e49\u0e4d\u0e32", "\u0e19\u0e49\u0e4d\u0e32",
		 UINT64_C(0x2057875c58bdc366), UINT64_C(0x606c280b287c87ff)},
		{"\u0e99\u0ec9\u0eb3", "\u0e99\u0ec9\u0ecd\u0eb2",
		 UINT64_C(0x2a4394a1c5f0db4a), UINT64_C(0x4d3b6c868f40c90c)},
		{"\u0e99\u0ecd\u0ec9\u0eb2", "\u0e99\u0ec9\u0ecd\u0eb2",
		 UINT64_C(0x2a4394a1c5f0db4a), UINT64_C(0x4d3b6c868f40c90c)},
		{"\u0e9a\u0ecd\u0ec8", "\u0e9a\u0ec8\u0ecd",
		 UINT64_C(0xf69c853d2ef7a9e6), UINT64_C(0xcdec9bee9480ac07)},
		{"\u0e9a\u0ec8\u0ecd", "\u0e9a\u0ec8\u0ecd",
		 UINT64_C(0xf69c853d2ef7a9e6), UINT64_C(0xcdec9bee9480ac07)},
		{"แม่นํ้า", "เเม่น้ํา", UINT64_C(0x09e75f016c7d0e28),
		 UINT64_C(0x65ade94b4d3cae6b)},
		/* Malayalam: au as it is written now */
		{"\u0d38\u0d4c\u0d26\u0d3f", "\u0d38\u0d57\u0d26\u0d3f",
		 UINT64_C(0xc5c2b1aaae8659ad), UINT64_C(0xc5c2b1aaae8659ad)},
		{"\u0d38\u0d57\u0d26\u0d3f", "\u0d38\u0d57\u0d26\u0d3f",
		 UINT64_C(0xc5c2b1aaae8659ad), UINT64_C(0xc5c2b1aaae8659ad)},
		{"\u0d38\u0d46\u0d57\u0d26\u0d3f", "\u0d38\u0d57\u0d26\u0d3f",
		 UINT64_C(0xc5c2b1aaae8659ad), UINT64_C(0xc5c2b1aaae8659ad)},
	};

	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++)
	{
		const char *text = golden[i].text;
		size_t len = strlen(text);
		size_t field_len;
		char *field = simdup_fold_field(text, len, &field_len);
		Folded folded;

		fold(text, len, &folded);
		ok(strcmp(folded.text, golden[i].folded) == 0, "folded: %s", text);
		ok(field_len == folded.used &&
			   memcmp(field, folded.text, field_len) == 0,
		   "a field is folded so");
		is_u64(minhash64(text, len, 4, SIMDUP_SHINGLE_CHAR), golden[i].chars,
			   "4 characters");
		is_u64(minhash64(text, len, 2, SIMDUP_SHINGLE_WORD), golden[i].words,
			   "2 words");
		simdup_free(field);
	}
}

static void
test_folded(const char *text, const char *expected, const char *name)
{
	Folded folded;

	fold(text, strlen(text), &folded);
	if (!ok(strcmp(folded.text, expected) == 0, "%s", name))
		printf("# got %s\n", folded.text);
}

/* What stands between two characters that are one. */
static void
test_between(void)
{
	static const char cut[] = "\u304b\xe3\x81\u3099";

	test_folded("か\u200d\u3099", "が", "nothing: a joiner");
	test_folded("か\u0301\u00ad\u3099", "が", "nothing: marks, hyphens");
	test_folded("か \u3099", "か \u3099", "a blank");
	test_folded("かa\u3099", "かa\u3099", "a letter");
	test_folded("か中\u3099", "か中\u3099", "a Chinese character");
	is_u64(minhash64(cut, 8, 1, SIMDUP_SHINGLE_CHAR),
		   minhash64("か \u3099", 7, 1, SIMDUP_SHINGLE_CHAR),
		   "a byte that is not UTF-8");
	ok(simdup_field_mask(cut, 8, 1, 10) != simdup_field_mask("が", 3, 1, 10),
	   "in a field, too");
	/* these are added without folding */
	is_u64(minhash64("かa中\u3099", 10, 1, SIMDUP_SHINGLE_CHAR),
		   minhash64("\u3099中aか", 10, 1, SIMDUP_SHINGLE_CHAR),
		   "common characters");
	test_folded("が\u3099", "が\u3099", "one mark joins");
	test_folded("\u3099か", "\u3099か", "a mark joins nothing behind it");
	test_folded("\u0dd9\u0dcf\u0dca", "\u0ddd", "three are one");
	test_folded("\u1100\u1161\u11a7", "가\u11a7", "no tail");
	test_folded("각\u11a8", "각\u11a8", "one tail");
	test_folded("\u1113\u1161\u1100\u1176", "\u1113\u1161\u1100\u1176",
				"old jamo");
}

/* All syllables in their order, from their jamo. */
static void
test_hangul(void)
{
	uint32_t syllable = 0xAC00;
	int n_others = 0;

	for (uint32_t lead = 0x1100; lead <= 0x1112; lead++)
		for (uint32_t vowel = 0x1161; vowel <= 0x1175; vowel++)
			for (uint32_t tail = 0x11A7; tail <= 0x11C2; tail++)
			{
				unsigned char jamo[3 * SIMDUP_MAX_UTF8];
				unsigned char expected[SIMDUP_MAX_UTF8];
				int len = simdup_utf8_encode(lead, jamo);
				Folded folded;

				len += simdup_utf8_encode(vowel, jamo + len);
				if (tail > 0x11A7)
					len += simdup_utf8_encode(tail, jamo + len);
				fold((char *) jamo, (size_t) len, &folded);
				len = simdup_utf8_encode(syllable++, expected);
				n_others += folded.used != (size_t) len ||
							memcmp(folded.text, expected, folded.used) != 0;
			}
	ok(syllable == 0xD7A4 && n_others == 0, "%d syllables are not their jamo",
	   n_others);
}

/* Texts of any characters but marks that join: folded once, they stay as they are. */
static void
test_again(uint64_t *state)
{
	int n_unstable = 0;

	for (int i = 0; i < 60000; i++)
	{
		char text[32 * SIMDUP_MAX_UTF8];
		size_t len = 0;
		Folded folded;
		Folded again;

		for (uint64_t n = next_random_of(state) % 32; n > 0; n--)
		{
			uint32_t cp = (uint32_t) (next_random_of(state) %
									  (i % 2 == 0 ? 0x3400 : 0x110000));

			if ((cp < 0xD800 || cp > 0xDFFF) &&
				simdup_fold_properties[simdup_fold_number(cp)].char_class <
					SIMDUP_FOLD_SECOND)
				len += (size_t) simdup_utf8_encode(cp, (unsigned char *) text +
														   len);
		}
		fold(text, len, &folded);
		fold(folded.text, folded.used, &again);
		n_unstable += folded.used != again.used ||
					  memcmp(folded.text, again.text, again.used) != 0;
	}
	ok(n_unstable == 0, "%d texts change when they are folded again",
	   n_unstable);
}

/* Long texts */

/* Spellings of one text: apart, and together. */
static const char *const spellings[][2] = {{"か\u3099", "が"},
										   {"ヘ\u309a", "ペ"},
										   {"ﾍﾞ", "ベ"},
										   {"か", "か"},
										   {"\u1112\u1161\u11ab", "한"},
										   {"\u1100\u1161", "가"},
										   {"글", "글"},
										   {"\u0bc6\u0bbe", "\u0bca"},
										   {"\u0dd9\u0dcf\u0dca", "\u0ddd"},
										   {"\u1025\u102e", "\u1026"},
										   {"中", "中"},
										   {"a", "a"},
										   {"é", "e"},
										   {" ", " "},
										   {"ก\u0e48\u0e38", "ก\u0e38\u0e48"},
										   {"င\u103a\u1037", "င\u1037\u103a"},
										   {"か\u0301\u3099", "が"},
										   {"ﷺ", "ﷺ"}};

#define N_SPELLINGS (sizeof(spellings) / sizeof(spellings[0]))
#define MAX_LONG 2000

typedef struct Elements
{
	uint64_t hashes[MAX_LONG * SIMDUP_MAX_FOLDED];
	size_t n;
} Elements;

/* A SimdupElementSink. */
static void
collect(void *arg, const uint64_t *hashes, size_t n)
{
	Elements *elements = arg;

	memcpy(elements->hashes + elements->n, hashes, n * sizeof(uint64_t));
	elements->n += n;
}

/* Texts of spellings from..to have the same shingles, fields and words. */
static void
test_long(const char *name, uint64_t from, uint64_t to, uint64_t *state)
{
	static char texts[2][MAX_LONG * 16];
	static Elements elements[2];
	bool same = true;

	for (int i = 0; i < 400; i++)
	{
		/* around the ends of buffers */
		uint64_t n =
			i < 200 ? 480 + (uint64_t) i : 1 + next_random_of(state) % MAX_LONG;
		SimdupShingling shingling = {i % 2 == 0 ? SIMDUP_SHINGLE_CHAR
												: SIMDUP_SHINGLE_WORD,
									 i % 3 == 0
										 ? 4
										 : 1 + (int) (next_random_of(state) %
													  SIMDUP_MAX_FOLDED_W)};
		char *ends[2] = {texts[0], texts[1]};
		char *fields[2];
		size_t field_lens[2];
		SimdupPassage *own;
		size_t n_own;

		for (uint64_t j = 0; j < n; j++)
		{
			uint64_t spelling = from + next_random_of(state) % (to - from);

			for (int side = 0; side < 2; side++)
				ends[side] = stpcpy(ends[side], spellings[spelling][side]);
		}
		for (int side = 0; side < 2; side++)
		{
			size_t len = (size_t) (ends[side] - texts[side]);

			elements[side].n = 0;
			simdup_folded_elements(shingling, texts[side], len, collect,
								   &elements[side]);
			fields[side] =
				simdup_fold_field(texts[side], len, &field_lens[side]);
		}
		same = same && elements[0].n == elements[1].n &&
			   memcmp(elements[0].hashes, elements[1].hashes,
					  elements[0].n * sizeof(uint64_t)) == 0;
		same = same && field_lens[0] == field_lens[1] &&
			   memcmp(fields[0], fields[1], field_lens[0]) == 0;
		for (int side = 0; side < 2; side++)
		{
			own = simdup_own_passages((SimdupUtf8){texts[side],
												   (size_t) (ends[side] -
															 texts[side])},
									  (SimdupUtf8){texts[1 - side],
												   (size_t) (ends[1 - side] -
															 texts[1 - side])},
									  &n_own);
			same = same && n_own == 0;
			simdup_free(own);
			simdup_free(fields[side]);
		}
	}
	ok(same, "%s apart and together: shingles, fields, passages", name);
}

int
main(void)
{
	uint64_t state = 47;

	test_tables();
	test_ranges();
	test_units();
	test_hangul();
	for (int v = SIMDUP_VECTORS_PLAIN; v <= (int) simdup_find_vectors(); v++)
	{
		simdup_vectors = (SimdupVectors) v;
		test_vectors();
		test_between();
		test_long("kana", 0, 4, &state);
		test_long("Hangul", 4, 7, &state);
		test_long("any", 0, N_SPELLINGS, &state);
	}
	test_again(&state);
	return done_testing();
}
