# bitmap.sh: the window of representatives against a loop with a byte table.

. "$ROOT/test/bench/lib.sh"

cc -O2 -Wall -Wextra -I"$ROOT/src" -o "$SCRATCH/bitmap" "$ROOT/test/bench/bitmap.c" \
  "$ROOT/src/core/compare/bitmap.c" "$ROOT/test/unit/host.c"
for threshold in 0.5 0.8 0.9; do
  "$SCRATCH/bitmap" 100000 "${ROWS:-100}" "$threshold" > "$SCRATCH/bitmap.out"
  read -r document ours < "$SCRATCH/bitmap.out"
  ratio_row "loop with a table : window of 100000, threshold $threshold" "${ROWS:-100}" "$document" "$ours" '>= 4'
done
