#!/bin/bash
# pgjdbc 42.5.5 (Debian 12: libpostgresql-jdbc-java) tells a generated column by DatabaseMetaData.getColumns.
# Guess: COLUMN_DEF is null, as the column takes no default. Seen: the expression, beside IS_GENERATEDCOLUMN = YES.
. "$(dirname "$0")/private_server"
cat >T.java <<'J'
import java.sql.*;

public class T {
  public static void main(String[] args) throws SQLException {
    ResultSet r = DriverManager.getConnection(args[0]).getMetaData().getColumns(null, "public", "t", "%");
    while (r.next())
      System.out.println(r.getString("COLUMN_NAME") + " " + r.getString("IS_GENERATEDCOLUMN") + " " + r.getString("COLUMN_DEF"));
  }
}
J
java -cp /usr/share/java/postgresql.jar T.java "jdbc:postgresql://127.0.0.1:$PGPORT/postgres?user=postgres" >out
seen 'a NO null' out
seen 'b YES upper(a)' out
