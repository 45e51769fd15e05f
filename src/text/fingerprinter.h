/*
 * fingerprinter.h
 *	  A row's fingerprint in the making, for every kind of fingerprint.
 *
 * Rows are fingerprinted by SQL functions of arrays, by functions of whole
 * rows, and by triggers. Each of them finds the content and the fields in its
 * own way, and hands their text to a fingerprinter.
 */
#ifndef SIMDUP_TEXT_FINGERPRINTER_H
#define SIMDUP_TEXT_FINGERPRINTER_H

#include "fmgr.h"
#include "text/profile.h"

typedef struct SimdupFingerprinter SimdupFingerprinter;

struct SimdupFingerprinter
{
	/* Begin a row. The options stay. */
	void (*begin)(SimdupFingerprinter *self);
	/* Add the content: at most once a row. */
	void (*add_content)(SimdupFingerprinter *self, SimdupUtf8 content);
	/* Add a field; a blank one adds nothing. */
	void (*add_field)(SimdupFingerprinter *self, SimdupUtf8 field);
	/* The fingerprint; false if the row has none. */
	bool (*end)(SimdupFingerprinter *self, uint64 *fp);

	/*
	 * Set an option, by the name that the SQL function gives it. False if no
	 * option has this name; raises 22023 for values that are not allowed.
	 */
	bool (*set_option)(SimdupFingerprinter *self, const char *name,
					   const char *value);

	bool content_only; /* the caller will add no field */
};

/* The fingerprint, as the result of the SQL function that is running. */
extern Datum simdup_end_fingerprint(SimdupFingerprinter *self,
									FunctionCallInfo fcinfo);

/*
 * The result of an SQL function whose first arguments are a content and a
 * text[] of fields. NULLs add nothing.
 */
extern Datum simdup_row_fingerprint(SimdupFingerprinter *self,
									FunctionCallInfo fcinfo);

#endif /* SIMDUP_TEXT_FINGERPRINTER_H */
