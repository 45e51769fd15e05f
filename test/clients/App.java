// JDBC: what doc/simdup-applications.md shows. Prints TAP.

import java.sql.*;
import java.util.*;

public class App {
  static int n = 0;

  static void check(Object got, Object expected, String name) {
    System.out.println((expected.equals(got) ? "ok " : "not ok ") + ++n + " - " + name);
  }

  public static void main(String[] args) throws SQLException {
    Connection conn = DriverManager.getConnection(args[0]);
    String words = "The lamp at the corner of Fish Street has been dark since May, sir.";
    List<Integer> found = new ArrayList<>();
    boolean refused = false;
    // java
    PreparedStatement insert = conn.prepareStatement("INSERT INTO letter (content) VALUES (?) RETURNING repeats");
    insert.setString(1, words);
    ResultSet added = insert.executeQuery();
    added.next();
    int flag = added.getInt("repeats");
    PreparedStatement search = conn.prepareStatement(
        "SELECT id FROM letter WHERE content <~@ simhash_ball(minhash64(?), ?) ORDER BY id");
    search.setString(1, words);
    search.setInt(2, 8);
    for (ResultSet near = search.executeQuery(); near.next();) found.add(near.getInt(1));
    try {
      insert.setString(1, words.toUpperCase());
      insert.executeQuery();
    } catch (SQLException error) {
      if (!error.getSQLState().equals("23P01")) throw error;
      refused = true;
    }
    // java: end
    check(flag, 1, "the flag by RETURNING");
    check(found, List.of(1, 2), "search with a bound text, the distance is an integer");
    check(refused, true, "23P01 is caught");
    search.setDouble(2, 8);
    try {
      search.executeQuery();
    } catch (SQLException error) {
      check(error.getSQLState(), "42883", "a double is no distance");
    }
    System.out.println("1.." + n);
  }
}
