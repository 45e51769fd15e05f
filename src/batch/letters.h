/*
 * letters.h
 *	  The letters of a batch by the shingles that they share.
 *
 * A letter is a distinct row with a shingle of three words. It has each of its
 * shingles once, at a place: places are numbered in the order of first occurrence.
 * Only shingles that another letter has, too, are kept. They are on disk beyond
 * their memory.
 */
#ifndef SIMDUP_BATCH_LETTERS_H
#define SIMDUP_BATCH_LETTERS_H

#include "batch/distinct_rows.h"

/*
 * A shared shingle of a letter: its id, whether the place before it is not shared,
 * and its block. Shingles that stand in the same letters are one block. It has the
 * rarity of its shingles above the hash of their letters.
 */
typedef uint64 SimdupShared;

#define SIMDUP_BLOCK_BITS 31
#define SIMDUP_BLOCK_HASH_BITS 20

static inline uint64
simdup_shared_id(SimdupShared shared)
{
	return shared >> (SIMDUP_BLOCK_BITS + 1);
}

static inline bool
simdup_shared_begins(SimdupShared shared)
{
	return (shared >> SIMDUP_BLOCK_BITS & 1) != 0;
}

/* 0: the shingle is a block of its own, because few letters have it. */
static inline uint32
simdup_shared_block(SimdupShared shared)
{
	return (uint32) (shared & (((uint64) 1 << SIMDUP_BLOCK_BITS) - 1));
}

/*
 * The shingles of a block that count. A greeting, a footer and a quoted law stand in
 * the same letters as a whole, however long they are. Senders of a campaign change
 * different words of it.
 */
#define SIMDUP_MOST_OF_BLOCK 12

/* One in so many shingles of a letter is in its sample. */
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
} SimdupLetters;

/* Find the letters. */
extern void simdup_letters_begin(SimdupLetters *letters,
								 const SimdupDistinct *distinct);
extern void simdup_letters_end(SimdupLetters *letters);

/* Room for a list of letters or shingles. Begin with {0}. */
typedef struct SimdupListRoom
{
	void *list;
	Size size;
} SimdupListRoom;

/* Return the shared shingles of a letter, valid until the room's next use. */
extern const SimdupShared *simdup_letter_shingles(const SimdupLetters *letters,
												  uint32 letter,
												  SimdupListRoom *room,
												  Size *n);

/* Return the letters that have a shingle, likewise. */
extern const uint32 *simdup_shingle_holders(const SimdupLetters *letters,
											uint64 id, SimdupListRoom *room,
											Size *n);

/* The shingles of the shortest letter that a template takes. */
#define SIMDUP_LEAST_OF_TEMPLATE 20

/*
 * Return one of its letters for each template, by letter, or SIMDUP_NO_ROW
 * (templates.c). The relatives of each letter are listed.
 */
extern uint32 *simdup_find_templates(const SimdupLetters *letters,
									 SimdupNearLists *relatives);

#endif /* SIMDUP_BATCH_LETTERS_H */
