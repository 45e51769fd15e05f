<?php
// Doctrine DBAL: its row in doc/simdup-applications.md. Prints TAP.
require '/usr/share/php/Doctrine/DBAL/autoload.php';
use Doctrine\DBAL\DriverManager;

$conn = DriverManager::getConnection(['driver' => 'pdo_pgsql', 'dbname' => getenv('PGDATABASE'),
    'user' => getenv('PGUSER'), 'host' => getenv('PGHOST'), 'port' => getenv('PGPORT')]);
try {
    $conn->createSchemaManager()->introspectTable('letter');
    $refused = false;
} catch (Doctrine\DBAL\Exception $error) {
    $refused = true;
}
echo $refused ? 'ok' : 'not ok', " 1 - the type is unknown\n";
$conn->getDatabasePlatform()->registerDoctrineTypeMapping('simhash64', 'string');
$table = $conn->createSchemaManager()->introspectTable('letter');
$sql = implode("\n", $conn->getDatabasePlatform()->getCreateTableSQL($table));
echo preg_match('/CREATE INDEX letter_near ON letter \(content\)/', $sql) && !preg_match('/EXCLUDE/', $sql)
    && preg_match("/fp .* DEFAULT 'minhash64/", $sql) ? 'ok' : 'not ok', " 2 - a btree and a default are generated, the constraint is lost\n";
echo '# ', str_replace("\n", "\n# ", $sql), "\n1..2\n";
