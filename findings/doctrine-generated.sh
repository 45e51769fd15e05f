#!/bin/bash
# Doctrine DBAL 3.6.1 (Debian 12: php-doctrine-dbal, php-pgsql) reads a generated column and writes the table anew.
# Guess: an error, or a plain column. Seen: b TEXT DEFAULT 'upper(a)', a quoted text.
# New rows then have the words upper(a) in b.
. "$(dirname "$0")/private_server"
cat >t.php <<'P'
<?php
require '/usr/share/php/Doctrine/DBAL/autoload.php';
$conn = Doctrine\DBAL\DriverManager::getConnection(['driver' => 'pdo_pgsql', 'dbname' => 'postgres',
    'user' => 'postgres', 'host' => getenv('PGHOST'), 'port' => getenv('PGPORT')]);
$table = $conn->createSchemaManager()->introspectTable('t');
echo implode("\n", $conn->getDatabasePlatform()->getCreateTableSQL($table)), "\n";
P
php t.php >out
seen "b TEXT DEFAULT 'upper(a)'" out
sed -n '/^CREATE TABLE/s/TABLE t/TABLE t2/p' out >t2.sql
psql -qX -f t2.sql -c "INSERT INTO t2 (id, a) VALUES (1, 'lamp')"
psql -XAtc 'SELECT b FROM t2' >out2
seen 'upper(a)' out2
