--
-- text: fingerprints of rows without a list of their columns
--

CREATE FUNCTION simhash_field(value anyelement) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_field(anyelement) IS
  'text form of a value of almost any type, the same under all settings, so that it may stand in a generated column: what value::text gives with DateStyle ISO, TimeZone UTC, IntervalStyle postgres, extra_float_digits 1, bytea_output hex and lc_monetary C. SQLSTATE 0A000 for types whose text may change for the same value: enums (a label can be renamed), composite types (they can be altered), regclass and its like, and others whose output function is not immutable';

CREATE FUNCTION simhash_record(
  value record,
  content name DEFAULT 'content',
  exclude name[] DEFAULT NULL,
  field_weight integer DEFAULT 2,
  n_features integer DEFAULT NULL,
  tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  hash text DEFAULT 'city64',
  ties boolean DEFAULT false
) RETURNS simhash64
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_record(record, name, name[], integer, integer, text, text, text, boolean) IS
  'fingerprint of a whole row: simhash_row of the column named content (NULL: of none) with every other column as a field, by its text form, which no setting changes (see simhash_field; enums and composite types may stand here too). Left out are the columns named in exclude, columns of type simhash64 and, of a table''s row, its generated columns. NULL for a NULL row and where nothing is left. SQLSTATE 42703 for a name that is no column, 0A000 for a column without a stable text form (document 003)';

CREATE FUNCTION simhash_row_expression(
  relation regclass,
  content name DEFAULT 'content',
  exclude name[] DEFAULT NULL,
  field_weight integer DEFAULT 2,
  n_features integer DEFAULT NULL,
  tokenizer text DEFAULT 'word',
  weighting text DEFAULT 'log',
  hash text DEFAULT 'city64',
  ties boolean DEFAULT false
) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_row_expression(regclass, name, name[], integer, integer, text, text, text, boolean) IS
  'the call of simhash_row that gives what simhash_record with the same arguments gives for a row of the table, as text to put into GENERATED ALWAYS AS (...) STORED, an index or a trigger: names are quoted and qualified, all of it is immutable. SQLSTATE 0A000, with all of them in the DETAIL, where columns have no text form that lasts (see simhash_field)';
