/*
 * options.c
 *	  The options of a hamming index.
 */
#include "postgres.h"
#include "compat.h"

#include "access/reloptions.h"
#include "utils/rel.h"

#include "index/hamming/building.h"
#include "index/hamming/am.h"

/* Kinds of reloptions get their numbers when the module is loaded. */
static relopt_kind option_kind;

void
simdup_hamming_init(void)
{
	option_kind = add_reloption_kind();
	add_int_reloption(option_kind, "fillfactor",
					  "How full leaves are made when the index is built, in "
					  "percent",
					  HAMMING_DEFAULT_FILLFACTOR, HAMMING_MIN_FILLFACTOR, 100,
					  AccessExclusiveLock);
}

bytea *
simdup_hamming_options(Datum options, bool validate)
{
	/* by name: 18 has a member more */
	static const relopt_parse_elt table[] = {
		{.optname = "fillfactor",
		 .opttype = RELOPT_TYPE_INT,
		 .offset = offsetof(HammingOptions, fillfactor)}};

	return (bytea *) build_reloptions(options, validate, option_kind,
									  sizeof(HammingOptions), table,
									  lengthof(table));
}

int
simdup_hamming_fillfactor(Relation index)
{
	HammingOptions *options = (HammingOptions *) index->rd_options;

	return options == NULL ? HAMMING_DEFAULT_FILLFACTOR : options->fillfactor;
}
