"""What the Python programs of this folder share: two letters, statements with a distance, and checks printed as TAP."""
LAMP = 'The lamp at the corner of Fish Street has been dark since May. I walk home there at night.'
BUS = 'Bus 14 is late every single morning and people miss the train at the junction.'
PAIRS = 'SELECT a.id, b.id FROM photo AS a JOIN photo AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, %s) WHERE a.id >= 20002'
CLUSTERS = ['SELECT id, simdup_cluster(id, fp, max_distance => %s) OVER (ORDER BY id) FROM photo WHERE id >= 20002',
            'SELECT id, simdup_cluster(id, fp, CAST(%s AS integer)) OVER (ORDER BY id) FROM photo WHERE id >= 20002']
# for a number and for a string
FOUND_PAIRS = [[(20002, 20003)]] * 2
FOUND_CLUSTERS = [[(20002, 20002), (20003, 20002)]] * 4
n_checks = 0


def check(got, expected, name):
    global n_checks
    n_checks += 1
    print(f'{"ok" if got == expected else "not ok"} {n_checks} - {name}')
    if got != expected:
        print(f'# got {got!r}, expected {expected!r}')


def done():
    print(f'1..{n_checks}')
