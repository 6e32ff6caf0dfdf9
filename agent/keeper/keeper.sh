#!/bin/sh
# The keeper: owns one command and outlives every client, every worker and the daemon. The files are the protocol.
#
#   keeper.sh FOLDER SEGMENT_BYTES
#
# In FOLDER, written by the daemon before the launch: `launch` (sets `workdir`, `cgroup` and the command's argument list).
# Written here, in this order (each line complete only with its closing " ."):
#   alive     FIFO, held open from before the claim until the keeper ends; "free" proves that the keeper is gone
#   output    FIFO between the command and the reader
#   claim     "keeper PID START ."; made by O_EXCL: who makes it decides for ever whether the command may run
#   segment.N output, SEGMENT_BYTES each; the first and the last two are kept
#   no-cgroup    the command could not enter its cgroup and runs outside of it
#   started   "PID START ."; written by the process that becomes the command, as its last act before exec
#   failed    "WHAT ."; a failure before exec
#   exit      "?" from the claim on, to hold its place; "CODE UPTIME ." when the command has ended
#   output-lost  the reader could not write (a full disk); it goes on draining, so that the command doesn't die of it
#   drained   the reader saw the end of the output
#
# Nothing here is inherited from the daemon's environment; the command's own comes with `launch`.
set -u
umask 077
cd -- "$1" || exit 1
folder=$PWD
segment_bytes=$2

# Caught, not ignored: exec resets a handler, but the command would inherit an ignored signal.
trap : HUP INT TERM

# point: before-fifos
mkfifo alive output || exit 1
# point: before-hold
exec 9<>alive

# The start time of the process that runs this, so that a pid used again is not taken for it (A2). Field 22 of stat.
read_identity() {
  read -r pid _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ start _ < /proc/self/stat
}

read_identity
# point: before-claim
set -C
{ printf 'keeper %s %s .\n' "$pid" "$start" > claim; } 2>/dev/null || exit 0
set +C
# point: after-claim

# Its place on the disk, while there is some: a command that fills the disk must still get its exit recorded.
printf '?' > exit || exit 1

# Both ends before the reader is forked: no helper may block in open() while it holds anything.
exec 8<>output 7<output 6>output 8<&-

(
  exec 9<&- 6>&- <&7 7<&-
  # point: reader-begun
  number=0
  while :; do
    if ! stdbuf -o0 head -c "$segment_bytes" > "segment.$number"; then
      : > output-lost
      cat > /dev/null
      break
    fi
    # Most commands that change something say nothing, and a fork for counting nothing would hold up `drained`.
    [ -s "segment.$number" ] || break
    [ "$(wc -c < "segment.$number")" -eq "$segment_bytes" ] || break
    number=$((number + 1))
    # point: reader-segment
    [ "$number" -lt 3 ] || rm -f "segment.$((number - 2))"
  done
  # point: reader-ended
  : > drained
) 2>/dev/null &
exec 7<&-
# point: reader-forked

# In the foreground: a background job of sh would have SIGINT and SIGQUIT ignored for good.
(
  fail() {
    printf '%s .\n' "$1" > "$folder/failed"
    exit 126
  }
  . ./launch
  cd -- "$workdir" 2>/dev/null || fail workdir
  # The command alone enters: the keeper must live to write the exit, the reader to write the output.
  if [ -n "$cgroup" ]; then
    { echo 0 > "$cgroup/cgroup.procs" || echo > "$folder/no-cgroup"; } 2>/dev/null
  fi
  read_identity
  # point: before-started
  printf '%s %s .\n' "$pid" "$start" > "$folder/started" || fail started
  # point: after-started
  # Runs only when the exec itself fails; a successful one leaves nothing behind to run it.
  trap 'printf "exec .\n" > "$folder/failed"' EXIT
  # `alive` is closed by this very exec and not before: free and no `started` proves that it never comes.
  exec "$@" < /dev/null >&6 2>&1 6>&- 9<&-
)
code=$?
exec 6>&-
# point: command-ended

if [ -e failed ]; then exit 0; fi
if ! read -r _ _ mark < started || [ "$mark" != . ]; then exit 0; fi
uptime=-
if [ -r /proc/uptime ]; then read -r uptime _ < /proc/uptime; fi
# point: before-exit
# In place, without truncating: needs no new space.
printf '%s %s .\n' "$code" "$uptime" 1<> exit
# point: after-exit
