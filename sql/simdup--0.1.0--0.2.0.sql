/* simdup: from 0.1.0 to 0.2.0. The SQL objects are the same in both. */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION simdup UPDATE TO '0.2.0'" to load this file. \quit
