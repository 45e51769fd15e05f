/* simdup: from 0.2.0 to 0.3.0 */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION simdup UPDATE TO '0.3.0'" to load this file. \quit
