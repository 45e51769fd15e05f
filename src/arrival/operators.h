/*
 * operators.h
 *	  Operators of a type, as SQL text names them.
 */
#ifndef SIMDUP_ARRIVAL_OPERATORS_H
#define SIMDUP_ARRIVAL_OPERATORS_H

/* OPERATOR(schema.name), or ERROR if the operator is gone. */
extern char *simdup_arrival_operator_name(Oid type, Oid opno);

#endif /* SIMDUP_ARRIVAL_OPERATORS_H */
