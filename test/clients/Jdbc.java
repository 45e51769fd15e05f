// JDBC: what an application does with fingerprints and texts. Prints TAP.

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;

public class Jdbc {
  static final String LAMP = "The lamp at the corner of Fish Street has been dark since May. I walk home there at night.";
  static final String BUS = "Bus 14 is late every single morning and people miss the train at the junction.";
  static int n = 0;
  static Connection conn;

  static void check(Object got, Object expected, String name) {
    boolean right = got.toString().equals(expected.toString());
    System.out.println((right ? "ok " : "not ok ") + ++n + " - " + name);
    if (!right)
      System.out.println("# got " + got + ", expected " + expected);
  }

  static PreparedStatement with(String sql, Object... values) throws SQLException {
    PreparedStatement statement = conn.prepareStatement(sql);
    for (int i = 0; i < values.length; i++)
      statement.setObject(i + 1, values[i]);
    return statement;
  }

  // All values of the rows, as strings.
  static List<String> rows(PreparedStatement statement) throws SQLException {
    List<String> rows = new ArrayList<>();
    try (ResultSet result = statement.executeQuery()) {
      while (result.next())
        for (int i = 1; i <= result.getMetaData().getColumnCount(); i++)
          rows.add(result.getString(i));
    }
    return rows;
  }

  static String state(String sql, Object... values) {
    try {
      with(sql, values).executeUpdate();
      return "no error";
    } catch (SQLException error) {
      return error.getSQLState();
    }
  }

  public static void main(String[] args) throws Exception {
    conn = DriverManager.getConnection(args[2]);
    try (Statement statement = conn.createStatement()) {
      statement.execute(Files.readString(Path.of(args[0])));
    }

    with("INSERT INTO letter (content) VALUES (?)", LAMP).executeUpdate();
    check(rows(with("SELECT fp FROM letter")), "[" + args[1] + "]", "a fingerprint is a string");

    String fp = "00000000deadbeef";
    // insert
    PreparedStatement insert = conn.prepareStatement("INSERT INTO photo VALUES (?, ?)");
    insert.setInt(1, 20001);
    insert.setString(2, fp);
    insert.executeUpdate();
    // insert: end
    with("INSERT INTO photo VALUES (?, ?::bytea::simhash64)", 20002, HexFormat.of().parseHex(fp)).executeUpdate();
    with("INSERT INTO photo VALUES (?, ?::simhash64)", 20003, 0xdeadbeefL).executeUpdate();
    // other
    PreparedStatement search = conn.prepareStatement("SELECT id FROM photo WHERE simhash_within(fp, ?, 3) ORDER BY id");
    search.setObject(1, fp, Types.OTHER);
    // other: end
    check(rows(with("SELECT count(*) FROM photo WHERE fp = ?::simhash64", fp)), "[3]",
        "inserted as text, in binary and as a number");

    check(rows(search), "[20001, 20002, 20003]", "search by text");
    PreparedStatement binary = with("SELECT fp::bytea FROM photo WHERE simhash_within(fp, ?::bytea::simhash64, 3) ORDER BY id",
        HexFormat.of().parseHex(fp));
    List<String> values = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      values.clear();
      try (ResultSet result = binary.executeQuery()) {
        while (result.next())
          values.add(HexFormat.of().formatHex(result.getBytes(1)));
      }
    }
    check(values, List.of(fp, fp, fp), "search in binary");

    List<String> found = null;
    for (int i = 0; i < 8; i++)
      found = rows(search);
    String name = rows(with("SELECT name FROM pg_prepared_statements WHERE statement ~ '^SELECT id.*simhash_within'")).get(0);
    List<String> plan = rows(with("EXPLAIN EXECUTE \"" + name + "\" ('" + fp + "')"));
    check(found.size() + " " + plan.toString().contains("photo_fp"), "3 true", "prepared, eight times: the index is used");

    // arrays
    PreparedStatement some = conn.prepareStatement("SELECT array_agg(fp) FROM photo WHERE fp = ANY (?)");
    some.setArray(1, conn.createArrayOf("simhash64", new String[] {fp, "ffffffffffffffff"}));
    ResultSet result = some.executeQuery();
    result.next();
    Object[] fps = (Object[]) result.getArray(1).getArray();
    // arrays: end
    check(List.of(fps), List.of(fp, fp, fp), "arrays both ways");

    List<String> nearest = rows(with("SELECT id FROM photo ORDER BY fp <~> ?::simhash64, id LIMIT 10", fp));
    check(nearest.size() + " " + nearest.subList(0, 3), "10 [20001, 20002, 20003]", "the nearest ten");

    with("INSERT INTO report VALUES (1, ?)", LAMP).executeUpdate();
    PreparedStatement report = with("INSERT INTO report VALUES (2, ?)", LAMP + "!");
    // refused
    try {
      report.executeUpdate();
    } catch (SQLException error) {
      check(error.getSQLState(), "23P01", "reject is caught");
    }
    // refused: end
    check(state("INSERT INTO letter (content) VALUES (?)", LAMP + "!"), "23P01", "EXCLUDE is caught");

    check(with("INSERT INTO letter (content) VALUES (?) ON CONFLICT DO NOTHING", LAMP + "!").executeUpdate(), 0,
        "ON CONFLICT DO NOTHING");

    String store = """
        INSERT INTO note (content) VALUES (?)
        ON CONFLICT (kept) DO UPDATE SET seen = note.seen + 1 RETURNING id, seen = 1 AS is_new""";
    List<String> old = rows(with(store, LAMP + "?"));
    List<String> fresh = rows(with(store, BUS));
    check(old + " " + fresh.size() + " " + fresh.get(1), "[1, f] 2 t", "store it unless it is there");

    List<String> similar = rows(with("""
        WITH given (words) AS (VALUES (?))
        SELECT id, share
        FROM given, LATERAL (SELECT id, content, fp <~> minhash64(words) AS distance
                             FROM letter ORDER BY fp <~> minhash64(words) LIMIT 200) AS near,
             shingle_containment(words, content, 4, 'char') AS share
        WHERE share >= 0.3 ORDER BY share DESC, distance, id LIMIT 10""", LAMP.substring(0, 45)));
    check(similar, "[1, 1]", "half a letter finds the letter");

    // smallint, integer, and a string without a type
    String pairs = "SELECT a.id, b.id FROM photo AS a JOIN photo AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, ?) "
        + "WHERE a.id >= 20002";
    String clusters = "SELECT id, simdup_cluster(id, fp, %s) OVER (ORDER BY id) FROM photo WHERE id >= 20002";
    List<String> answers = new ArrayList<>();
    for (String statement : List.of(pairs, clusters.formatted("max_distance => ?"), clusters.formatted("?::integer"))) {
      for (int type : new int[] {Types.SMALLINT, Types.INTEGER, Types.OTHER}) {
        PreparedStatement prepared = conn.prepareStatement(statement);
        prepared.setObject(1, type == Types.OTHER ? "3" : 3, type);
        answers.add(String.join(" ", rows(prepared)));
      }
    }
    check(answers.subList(0, 3), Collections.nCopies(3, "20002 20003"), "pairs by a join");
    check(answers.subList(3, 9), Collections.nCopies(6, "20002 20002 20003 20002"), "clusters by a window function");
    conn.setAutoCommit(false);
    PreparedStatement stream = conn.prepareStatement(pairs);
    stream.setFetchSize(1);
    stream.setInt(1, 3);
    check(rows(stream), "[20002, 20003]", "pairs as a stream");
    conn.setAutoCommit(true);
    rows(with("SELECT simdup_group('photo_case', ?, ?, ?, NULL)", "late_photo", (short) 3, "leader"));
    check(rows(with("SELECT key, id FROM simdup_regroup('photo_case')")), "[20002, 1, 20003, 1]", "a grouping by position");
    System.out.println("1.." + n);
  }
}
