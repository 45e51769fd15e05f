/*
 * catalog.h
 *	  Objects of this extension, found from one of its functions.
 *
 * The extension may live in any schema, and search_path may name any other. So
 * an object is looked up in the schema of the function that runs or is planned,
 * and nowhere else.
 */
#ifndef SIMDUP_SERVER_CATALOG_H
#define SIMDUP_SERVER_CATALOG_H

/* Return the type of this name in the function's schema, or InvalidOid. */
extern Oid simdup_sibling_type(Oid funcid, const char *name);

/*
 * Return the function of this name and of these n argument types in the
 * function's schema, or InvalidOid.
 */
extern Oid simdup_sibling_function(Oid funcid, const char *name,
								   const Oid *types, int n);

/* Return the operator of this name in the function's schema, or InvalidOid. */
extern Oid simdup_sibling_operator(Oid funcid, const char *name, Oid left,
								   Oid right);

/* Return simhash_ball(simhash64, integer) in the schema, or InvalidOid. */
extern Oid simdup_sibling_ball_constructor(Oid funcid);

/* Return schema.table, quoted. ERROR if there is no such table. */
extern char *simdup_table_name(Oid table);

/*
 * Return the table of a trigger, or of the trigger that it is a clone of.
 * Return InvalidOid if one of them is gone.
 */
extern Oid simdup_table_of_trigger(Oid trigger);

/* Raise the error for the OID of a table that is gone. */
pg_noreturn extern void simdup_no_such_table(Oid table);

#endif /* SIMDUP_SERVER_CATALOG_H */
