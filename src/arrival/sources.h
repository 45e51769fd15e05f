/*
 * sources.h
 *	  The options of triggers, and the columns that they name.
 */
#ifndef SIMDUP_ARRIVAL_SOURCES_H
#define SIMDUP_ARRIVAL_SOURCES_H

/* Is it a string type by its category, or stored as a text is (xml)? */
extern bool simdup_is_character(Oid type);

/* The value in "option => value", or NULL if the argument has another form. */
extern const char *simdup_option_value(const char *argument, char **name);

#endif /* SIMDUP_ARRIVAL_SOURCES_H */
