/*
 * sources.h
 *	  The columns and options that fingerprints are made of, as triggers and
 *	  simdup_attach name them.
 */
#ifndef SIMDUP_ARRIVAL_SOURCES_H
#define SIMDUP_ARRIVAL_SOURCES_H

#include "access/tupdesc.h"
#include "text/fingerprinter.h"

/* Is it a string type by its category, or stored as a text is (xml)? */
extern bool simdup_is_character(Oid type);

/*
 * ERROR unless a column can be a source of a fingerprint. BEFORE triggers must
 * see its value, so it is not generated. The content is of a character type; a
 * field is of any type with a stable text form.
 */
extern void simdup_check_source(const char *relname, Form_pg_attribute att,
								bool is_content);

/* The value in "option => value", or NULL if the argument has another form. */
extern const char *simdup_option_value(const char *argument, char **name);

/*
 * Set an option that a trigger's argument "option => value" names. False if
 * the argument has another form, and so is the name of a column.
 */
extern bool simdup_set_source_option(SimdupFingerprinter *fingerprinter,
									 const char *argument);

#endif /* SIMDUP_ARRIVAL_SOURCES_H */
