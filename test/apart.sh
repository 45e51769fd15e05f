# apart.sh: commands in mount, process and IPC namespaces of their own. No mount
# and no process outlives them, even where they are killed. Sourced, after
# server.sh.

# no_apart: why a command cannot run like that, and what it may change is lost;
# nothing where it can.
no_apart()
{
  local reason
  reason=$(no_installing)
  if [ -n "$reason" ]; then
    echo "$reason"
  elif ! apart 10 true 2>/dev/null; then
    echo "no right to make namespaces"
  fi
}

# apart SECONDS [UNSHARE-OPTION...] COMMAND...: at most so long. In the background,
# since bash hears signals between commands and while it waits.
apart()
{
  local status=0 limit=$1
  setpriv --pdeathsig KILL timeout --signal=KILL "$limit" \
    setpriv --pdeathsig KILL unshare --mount --propagation private --pid --ipc --fork --kill-child "${@:2}" </dev/null &
  contained=$!
  wait "$contained" || status=$?
  contained=
  [ "$status" != 137 ] || echo "killed, or not done in $limit seconds" >&2
  return "$status"
}

# end_apart: for an EXIT trap.
end_apart()
{
  [ -n "${contained:-}" ] || return 0
  kill -KILL "$contained" 2>/dev/null || true
  wait "$contained" 2>/dev/null || true
}

# committed FOLDER: the tree as git would have it, else all of it, in FOLDER.
committed()
{
  mkdir -p "$1"
  {
    git -C "$root" ls-files -z --cached --others --exclude-standard 2>/dev/null ||
      (cd "$root" && find . ! -type d -print0)
  } | (cd "$root" && perl -0ne 'print if -e s/\0$//r || -l s/\0$//r') |
    tar -C "$root" --null --no-recursion -T - -cf - | tar -C "$1" --no-same-owner -xf -
}
