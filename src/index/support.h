/*
 * support.h
 *	  Expressions that planner support functions make.
 */
#ifndef SIMDUP_INDEX_SUPPORT_H
#define SIMDUP_INDEX_SUPPORT_H

#include "nodes/pathnodes.h"

/*
 * Return simhash_ball(center, radius), as a constant if both operands are; NULL
 * if the function is missing. funcid is any function of this extension.
 */
extern Expr *simdup_make_ball_expr(PlannerInfo *root, Oid funcid, Node *center,
								   Node *radius);

#endif /* SIMDUP_INDEX_SUPPORT_H */
