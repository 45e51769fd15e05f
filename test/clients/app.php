<?php
// PDO: what doc/simdup-applications.md shows. Prints TAP.
$n = 0;
function check($got, $expected, $name)
{
    global $n;
    echo $got === $expected ? 'ok ' : 'not ok ', ++$n, " - $name\n";
    if ($got !== $expected) echo '# got ', var_export($got, true), "\n";
}

$words = 'The lamp at the corner of Fish Street has been dark since May, sir.';
// php
$db = new PDO('pgsql:', null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$insert = $db->prepare('INSERT INTO letter (content) VALUES (?) RETURNING repeats');
$insert->execute([$words]);
$flag = $insert->fetchColumn();
$search = $db->prepare('SELECT id FROM letter
    WHERE content <~@ simhash_ball(minhash64(?), ?::integer) ORDER BY id');
$search->execute([$words, 8]);
$found = $search->fetchAll(PDO::FETCH_COLUMN);
try {
    $insert->execute([strtoupper($words)]);
} catch (PDOException $error) {
    if ($error->getCode() !== '23P01') throw $error;
    $refused = true;
}
// php: end
check($flag, 1, 'the flag by RETURNING');
check($found, [1, 2], 'search with a bound text, the distance is an integer');
check($refused, true, '23P01 is caught');
echo "1..$n\n";
