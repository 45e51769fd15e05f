/*
 * documents.h
 *	  The documents of a query: keys in memory, shingle sets on disk.
 */
#ifndef SIMDUP_SHINGLES_DOCUMENTS_H
#define SIMDUP_SHINGLES_DOCUMENTS_H

#include "fmgr.h"

#include "server/keys.h"
#include "server/spill.h"
#include "text/minhash64.h"

/*
 * Documents are numbered from 0 in query order; those without a shingle are left
 * out. Each takes some twenty bytes of memory and its key. Reading reports its
 * progress.
 */
typedef struct SimdupDocuments
{
	MemoryContext context; /* all of it */
	MemoryContext row_context;
	SimdupFoldedShingling shingling;
	int64 n_rows; /* read so far */
	int64 n_no_content;

	uint32 n;
	uint32 capacity;
	SimdupKeys *keys;
	uint32 *sizes;	 /* of the sets */
	uint32 *digests; /* of the sets */
	int64 *offsets;	 /* of the sets in the file */
	SimdupTempFile *sets;

	SimdupHashes loaded[2]; /* see simdup_document_set */
	uint32 loaded_number[2];
} SimdupDocuments;

/*
 * Read a query of (key, content). The function's arguments key_type and params are
 * found by their names.
 */
extern SimdupDocuments *simdup_read_documents(FunctionCallInfo fcinfo,
											  SimdupFoldedShingling shingling);
extern void simdup_documents_end(SimdupDocuments *documents);

/*
 * Return the set of a document, valid until the next call with the same buffer.
 */
extern const SimdupHashes *simdup_document_set(SimdupDocuments *documents,
											   uint32 number, int buffer);

#endif /* SIMDUP_SHINGLES_DOCUMENTS_H */
