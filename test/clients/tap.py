"""What the Python programs of this folder share: two letters, and checks printed as TAP."""
LAMP = 'The lamp at the corner of Fish Street has been dark since May. I walk home there at night.'
BUS = 'Bus 14 is late every single morning and people miss the train at the junction.'
n_checks = 0


def check(got, expected, name):
    global n_checks
    n_checks += 1
    print(f'{"ok" if got == expected else "not ok"} {n_checks} - {name}')
    if got != expected:
        print(f'# got {got!r}, expected {expected!r}')


def done():
    print(f'1..{n_checks}')
