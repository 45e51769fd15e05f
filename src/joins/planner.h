/*
 * planner.h
 *	  Joins by nearness as paths of the planner.
 */
#ifndef SIMDUP_JOINS_PLANNER_H
#define SIMDUP_JOINS_PLANNER_H

/* Install the planner's hook and the node, once, when the module loads. */
extern void simdup_joins_init(void);

#endif /* SIMDUP_JOINS_PLANNER_H */
