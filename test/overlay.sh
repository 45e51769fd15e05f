# overlay.sh: runs commands as root in an overlay over a file system. Their changes go to
# memory, and are lost. Sourced, after server.sh. The functions use the scratch folder.

# no_overlay: why a command cannot run like that; nothing where it can.
no_overlay()
{
  local reason
  reason=$(no_installing)
  if [ -n "$reason" ]; then
    echo "$reason"
  elif ! inside 10 / test -e /var/lib/dpkg/status >/dev/null 2>&1; then
    echo "no right to make namespaces, or no overlay over this file system"
  fi
}

# apart SECONDS COMMAND...: in mount, process and IPC namespaces, for at most so long.
# No mount and no process outlives this shell, even if it is killed. In the background,
# since a shell hears signals while it waits.
apart()
{
  local status=0
  setpriv --pdeathsig KILL timeout --signal=KILL "$1" \
    setpriv --pdeathsig KILL unshare --mount --propagation private --pid --mount-proc --ipc --fork --kill-child "${@:2}" </dev/null &
  wait $! || status=$?
  [ "$status" != 137 ] || echo "killed, or not done in $1 seconds" >&2
  return "$status"
}

# inside SECONDS ROOT COMMAND...: apart, in an overlay over ROOT. The scratch folder and
# the network are this machine's.
inside()
{
  install -d -m 1777 "$scratch/overlay" "$scratch/tmp"
  # shellcheck disable=SC2016
  apart "$1" sh -ec '
    scratch=$1 base=$2
    shift 2
    mount -t tmpfs -o mode=755 overlay "$scratch/overlay"
    cd "$scratch/overlay"
    mkdir changes work root
    mount -t overlay overlay -o "lowerdir=$base,upperdir=changes,workdir=work" root
    mount -t proc proc root/proc
    mount --rbind /dev root/dev
    mkdir -p "root$scratch"
    mount --bind "$scratch" "root$scratch"
    cp -L /etc/resolv.conf /etc/hosts root/etc/
    cp -L /etc/ssl/certs/ca-certificates.crt root/etc/ssl/certs/ 2>/dev/null || true
    : >root/.simdup-overlay
    exec chroot root "$@"
  ' sh "$scratch" "$2" env --chdir=/ HOME=/root TMPDIR="$scratch/tmp" LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PG_CONFIG=pg_config \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${@:3}"
}

# copy_tree FOLDER: copy the tree there, and the evaluation data beside it where there is
# any. Files that git ignores are left out, if there is a repository.
copy_tree()
{
  mkdir -p "$1/simdup"
  {
    git -C "$root" ls-files -z --cached --others --exclude-standard 2>/dev/null ||
      (cd "$root" && find . ! -type d -print0)
  } | (cd "$root" && perl -0ne 'print if -e s/\0$//r || -l s/\0$//r') |
    tar -C "$root" --null --no-recursion -T - -cf - | tar -C "$1/simdup" --no-same-owner -xf -
  [ ! -d "$root/../shared/data" ] || { mkdir "$1/shared" && cp -rL "$root/../shared/data" "$1/shared/"; }
}
