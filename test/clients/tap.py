"""What the Python programs of this folder share: two letters, calls with a distance, and checks printed as TAP."""
LAMP = 'The lamp at the corner of Fish Street has been dark since May. I walk home there at night.'
BUS = 'Bus 14 is late every single morning and people miss the train at the junction.'
QUERY = 'SELECT id, fp FROM photo WHERE id >= 20002 ORDER BY id'
CALLS = ['simdup_pairs(%s, max_distance => %s)', 'simdup_pairs(%s, NULL::bigint, %s)']
# for a number and for a string
EXPECTED = [[(20002, 20003, 0, None)]] * 4
n_checks = 0


def check(got, expected, name):
    global n_checks
    n_checks += 1
    print(f'{"ok" if got == expected else "not ok"} {n_checks} - {name}')
    if got != expected:
        print(f'# got {got!r}, expected {expected!r}')


def done():
    print(f'1..{n_checks}')
