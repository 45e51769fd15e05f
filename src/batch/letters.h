/*
 * letters.h
 *	  The letters of a batch by the shingles that they share.
 *
 * A letter is a unit with a shingle of three words. It has each of its
 * shingles once, at a place: places are numbered in the order of first occurrence.
 * Only shingles that another letter has, too, are kept. They are on disk beyond
 * their memory.
 */
#ifndef SIMDUP_BATCH_LETTERS_H
#define SIMDUP_BATCH_LETTERS_H

#include "batch/units.h"

/*
 * A shared shingle of a letter. Shingles that stand in the same letters are one block.
 * It has the rarity of its shingles above the hash of their letters.
 */
typedef struct SimdupShared
{
	uint32 id;
	uint32 begins : 1;	   /* the place before it is not shared */
	uint32 block_high : 7; /* the bits above block_low */
	uint32 block_low;
} SimdupShared;

#define SIMDUP_BLOCK_HASH_BITS 28

/* Return the block; 0: one of its own, because few letters have the shingle. */
static inline uint64
simdup_shared_block(SimdupShared shared)
{
	return (uint64) shared.block_high << 32 | shared.block_low;
}

/* One shingle of SIMDUP_SAMPLED is in the sample of its letter. */
#define SIMDUP_SAMPLED 4

typedef struct SimdupLetters
{
	SimdupRows *rows;
	int64 memory;	/* of a sort or a file */
	uint32 *size;	/* by row: shingles; 0: no letter */
	uint64 *starts; /* by row, and one more: in the file of shingles */
	SimdupTempFile *shingles; /* SimdupShared, by row and place */
	uint64 next_id;			  /* of a shared shingle */
	/* of templates, by id: the number of letters, and the letters; or NULL */
	SimdupTempFile *holders;
	/*
	 * Lists of letters with a common sampled shingle. Sorted by row: where such a
	 * list is, and how many letters of it are candidates.
	 */
	SimdupTempFile *sharers;
	SimdupPairSort *candidates;
	SimdupBuffer list; /* that was returned last */
} SimdupLetters;

/* Find the letters. */
extern void simdup_letters_begin(SimdupLetters *letters,
								 const SimdupBatchUnits *units);
extern void simdup_letters_end(SimdupLetters *letters);

/*
 * Return the shared shingles of a letter, or the letters that have a shingle. Either is
 * valid until the next list.
 */
extern const SimdupShared *simdup_letter_shingles(SimdupLetters *letters,
												  uint32 letter, Size *n);
extern const uint32 *simdup_shingle_holders(void *letters, uint64 id, Size *n);

#endif /* SIMDUP_BATCH_LETTERS_H */
