/*
 * html_entities.h
 *	  The named character references of HTML 4.01, and apos, in byte order.
 *
 * Those of Latin-1 and the four of markup itself are also read without their
 * semicolon, as browsers do.
 */
#ifndef SIMDUP_CORE_HTML_ENTITIES_H
#define SIMDUP_CORE_HTML_ENTITIES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct SimdupHtmlEntity
{
	char name[9];
	bool bare; /* also without the semicolon */
	uint16_t code_point;
} SimdupHtmlEntity;

/* clang-format off */
static const SimdupHtmlEntity html_entities[] = {
	{"AElig", 1, 0x00c6}, {"Aacute", 1, 0x00c1}, {"Acirc", 1, 0x00c2},
	{"Agrave", 1, 0x00c0}, {"Alpha", 0, 0x0391}, {"Aring", 1, 0x00c5},
	{"Atilde", 1, 0x00c3}, {"Auml", 1, 0x00c4}, {"Beta", 0, 0x0392},
	{"Ccedil", 1, 0x00c7}, {"Chi", 0, 0x03a7}, {"Dagger", 0, 0x2021},
	{"Delta", 0, 0x0394}, {"ETH", 1, 0x00d0}, {"Eacute", 1, 0x00c9},
	{"Ecirc", 1, 0x00ca}, {"Egrave", 1, 0x00c8}, {"Epsilon", 0, 0x0395},
	{"Eta", 0, 0x0397}, {"Euml", 1, 0x00cb}, {"Gamma", 0, 0x0393},
	{"Iacute", 1, 0x00cd}, {"Icirc", 1, 0x00ce}, {"Igrave", 1, 0x00cc},
	{"Iota", 0, 0x0399}, {"Iuml", 1, 0x00cf}, {"Kappa", 0, 0x039a},
	{"Lambda", 0, 0x039b}, {"Mu", 0, 0x039c}, {"Ntilde", 1, 0x00d1},
	{"Nu", 0, 0x039d}, {"OElig", 0, 0x0152}, {"Oacute", 1, 0x00d3},
	{"Ocirc", 1, 0x00d4}, {"Ograve", 1, 0x00d2}, {"Omega", 0, 0x03a9},
	{"Omicron", 0, 0x039f}, {"Oslash", 1, 0x00d8}, {"Otilde", 1, 0x00d5},
	{"Ouml", 1, 0x00d6}, {"Phi", 0, 0x03a6}, {"Pi", 0, 0x03a0},
	{"Prime", 0, 0x2033}, {"Psi", 0, 0x03a8}, {"Rho", 0, 0x03a1},
	{"Scaron", 0, 0x0160}, {"Sigma", 0, 0x03a3}, {"THORN", 1, 0x00de},
	{"Tau", 0, 0x03a4}, {"Theta", 0, 0x0398}, {"Uacute", 1, 0x00da},
	{"Ucirc", 1, 0x00db}, {"Ugrave", 1, 0x00d9}, {"Upsilon", 0, 0x03a5},
	{"Uuml", 1, 0x00dc}, {"Xi", 0, 0x039e}, {"Yacute", 1, 0x00dd},
	{"Yuml", 0, 0x0178}, {"Zeta", 0, 0x0396}, {"aacute", 1, 0x00e1},
	{"acirc", 1, 0x00e2}, {"acute", 1, 0x00b4}, {"aelig", 1, 0x00e6},
	{"agrave", 1, 0x00e0}, {"alefsym", 0, 0x2135}, {"alpha", 0, 0x03b1},
	{"amp", 1, 0x0026}, {"and", 0, 0x2227}, {"ang", 0, 0x2220},
	{"apos", 0, 0x0027}, {"aring", 1, 0x00e5}, {"asymp", 0, 0x2248},
	{"atilde", 1, 0x00e3}, {"auml", 1, 0x00e4}, {"bdquo", 0, 0x201e},
	{"beta", 0, 0x03b2}, {"brvbar", 1, 0x00a6}, {"bull", 0, 0x2022},
	{"cap", 0, 0x2229}, {"ccedil", 1, 0x00e7}, {"cedil", 1, 0x00b8},
	{"cent", 1, 0x00a2}, {"chi", 0, 0x03c7}, {"circ", 0, 0x02c6},
	{"clubs", 0, 0x2663}, {"cong", 0, 0x2245}, {"copy", 1, 0x00a9},
	{"crarr", 0, 0x21b5}, {"cup", 0, 0x222a}, {"curren", 1, 0x00a4},
	{"dArr", 0, 0x21d3}, {"dagger", 0, 0x2020}, {"darr", 0, 0x2193},
	{"deg", 1, 0x00b0}, {"delta", 0, 0x03b4}, {"diams", 0, 0x2666},
	{"divide", 1, 0x00f7}, {"eacute", 1, 0x00e9}, {"ecirc", 1, 0x00ea},
	{"egrave", 1, 0x00e8}, {"empty", 0, 0x2205}, {"emsp", 0, 0x2003},
	{"ensp", 0, 0x2002}, {"epsilon", 0, 0x03b5}, {"equiv", 0, 0x2261},
	{"eta", 0, 0x03b7}, {"eth", 1, 0x00f0}, {"euml", 1, 0x00eb},
	{"euro", 0, 0x20ac}, {"exist", 0, 0x2203}, {"fnof", 0, 0x0192},
	{"forall", 0, 0x2200}, {"frac12", 1, 0x00bd}, {"frac14", 1, 0x00bc},
	{"frac34", 1, 0x00be}, {"frasl", 0, 0x2044}, {"gamma", 0, 0x03b3},
	{"ge", 0, 0x2265}, {"gt", 1, 0x003e}, {"hArr", 0, 0x21d4},
	{"harr", 0, 0x2194}, {"hearts", 0, 0x2665}, {"hellip", 0, 0x2026},
	{"iacute", 1, 0x00ed}, {"icirc", 1, 0x00ee}, {"iexcl", 1, 0x00a1},
	{"igrave", 1, 0x00ec}, {"image", 0, 0x2111}, {"infin", 0, 0x221e},
	{"int", 0, 0x222b}, {"iota", 0, 0x03b9}, {"iquest", 1, 0x00bf},
	{"isin", 0, 0x2208}, {"iuml", 1, 0x00ef}, {"kappa", 0, 0x03ba},
	{"lArr", 0, 0x21d0}, {"lambda", 0, 0x03bb}, {"lang", 0, 0x2329},
	{"laquo", 1, 0x00ab}, {"larr", 0, 0x2190}, {"lceil", 0, 0x2308},
	{"ldquo", 0, 0x201c}, {"le", 0, 0x2264}, {"lfloor", 0, 0x230a},
	{"lowast", 0, 0x2217}, {"loz", 0, 0x25ca}, {"lrm", 0, 0x200e},
	{"lsaquo", 0, 0x2039}, {"lsquo", 0, 0x2018}, {"lt", 1, 0x003c},
	{"macr", 1, 0x00af}, {"mdash", 0, 0x2014}, {"micro", 1, 0x00b5},
	{"middot", 1, 0x00b7}, {"minus", 0, 0x2212}, {"mu", 0, 0x03bc},
	{"nabla", 0, 0x2207}, {"nbsp", 1, 0x00a0}, {"ndash", 0, 0x2013},
	{"ne", 0, 0x2260}, {"ni", 0, 0x220b}, {"not", 1, 0x00ac},
	{"notin", 0, 0x2209}, {"nsub", 0, 0x2284}, {"ntilde", 1, 0x00f1},
	{"nu", 0, 0x03bd}, {"oacute", 1, 0x00f3}, {"ocirc", 1, 0x00f4},
	{"oelig", 0, 0x0153}, {"ograve", 1, 0x00f2}, {"oline", 0, 0x203e},
	{"omega", 0, 0x03c9}, {"omicron", 0, 0x03bf}, {"oplus", 0, 0x2295},
	{"or", 0, 0x2228}, {"ordf", 1, 0x00aa}, {"ordm", 1, 0x00ba},
	{"oslash", 1, 0x00f8}, {"otilde", 1, 0x00f5}, {"otimes", 0, 0x2297},
	{"ouml", 1, 0x00f6}, {"para", 1, 0x00b6}, {"part", 0, 0x2202},
	{"permil", 0, 0x2030}, {"perp", 0, 0x22a5}, {"phi", 0, 0x03c6},
	{"pi", 0, 0x03c0}, {"piv", 0, 0x03d6}, {"plusmn", 1, 0x00b1},
	{"pound", 1, 0x00a3}, {"prime", 0, 0x2032}, {"prod", 0, 0x220f},
	{"prop", 0, 0x221d}, {"psi", 0, 0x03c8}, {"quot", 1, 0x0022},
	{"rArr", 0, 0x21d2}, {"radic", 0, 0x221a}, {"rang", 0, 0x232a},
	{"raquo", 1, 0x00bb}, {"rarr", 0, 0x2192}, {"rceil", 0, 0x2309},
	{"rdquo", 0, 0x201d}, {"real", 0, 0x211c}, {"reg", 1, 0x00ae},
	{"rfloor", 0, 0x230b}, {"rho", 0, 0x03c1}, {"rlm", 0, 0x200f},
	{"rsaquo", 0, 0x203a}, {"rsquo", 0, 0x2019}, {"sbquo", 0, 0x201a},
	{"scaron", 0, 0x0161}, {"sdot", 0, 0x22c5}, {"sect", 1, 0x00a7},
	{"shy", 1, 0x00ad}, {"sigma", 0, 0x03c3}, {"sigmaf", 0, 0x03c2},
	{"sim", 0, 0x223c}, {"spades", 0, 0x2660}, {"sub", 0, 0x2282},
	{"sube", 0, 0x2286}, {"sum", 0, 0x2211}, {"sup", 0, 0x2283},
	{"sup1", 1, 0x00b9}, {"sup2", 1, 0x00b2}, {"sup3", 1, 0x00b3},
	{"supe", 0, 0x2287}, {"szlig", 1, 0x00df}, {"tau", 0, 0x03c4},
	{"there4", 0, 0x2234}, {"theta", 0, 0x03b8}, {"thetasym", 0, 0x03d1},
	{"thinsp", 0, 0x2009}, {"thorn", 1, 0x00fe}, {"tilde", 0, 0x02dc},
	{"times", 1, 0x00d7}, {"trade", 0, 0x2122}, {"uArr", 0, 0x21d1},
	{"uacute", 1, 0x00fa}, {"uarr", 0, 0x2191}, {"ucirc", 1, 0x00fb},
	{"ugrave", 1, 0x00f9}, {"uml", 1, 0x00a8}, {"upsih", 0, 0x03d2},
	{"upsilon", 0, 0x03c5}, {"uuml", 1, 0x00fc}, {"weierp", 0, 0x2118},
	{"xi", 0, 0x03be}, {"yacute", 1, 0x00fd}, {"yen", 1, 0x00a5},
	{"yuml", 1, 0x00ff}, {"zeta", 0, 0x03b6}, {"zwj", 0, 0x200d},
	{"zwnj", 0, 0x200c},
};
/* clang-format on */

#endif /* SIMDUP_CORE_HTML_ENTITIES_H */
