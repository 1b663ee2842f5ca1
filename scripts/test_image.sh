#!/usr/bin/env bash
# Builds the image of Dockerfile without Docker, and runs it as a guest on a strange machine would: a user without a
# name or a HOME, a read-only file system and no network. One line a check; exit 0 all hold, 1 not, 77 cannot run here.
# Needs root, buildah, debootstrap and a Debian mirror (the one apt uses). BASE=DIR keeps the base system for next time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

skip() { echo "SKIPPED: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "needs root"
for tool in buildah debootstrap unshare chroot; do
    command -v "$tool" >/dev/null || skip "$tool is not installed (apt-get install buildah debootstrap)"
done

work=$(mktemp -d "${TMPDIR:-/tmp}/goals-image.XXXXXX")
store=(buildah --storage-driver vfs --root "$work/store" --runroot "$work/run")
clean() {
    "${store[@]}" rm --all >/dev/null 2>&1 || true
    "${store[@]}" rmi --all --force >/dev/null 2>&1 || true
    rm -rf --one-file-system "$work"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
failed=0
check() { # WORDS COMMAND...
    local words=$1
    shift
    if "$@" >"$work/told" 2>&1; then echo "ok: $words"; else echo "FAILED: $words"; sed 's/^/    /' "$work/told"; failed=1; fi
}
megabytes() { du -sm --one-file-system "$1" | cut -f1; }

# The base: Debian with Python, in place of python:3.12-slim, which comes from a registry.
base=${BASE:-$work/base} suite=${SUITE:-bookworm}
if [ ! -x "$base/usr/bin/python3" ]; then
    mirror=$(apt-get indextargets --format '$(ORIGIN)|$(COMPONENT)|$(REPO_URI)' | sort -u |
        awk -F '|' '$1 == "Debian" && $2 == "main" && $3 !~ /security/ { print $3; exit }')
    [ -n "$mirror" ] || skip "apt knows no Debian mirror"
    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$suite" "$base" "$mirror" \
        >"$work/debootstrap" 2>&1 || { tail -5 "$work/debootstrap"; skip "debootstrap failed"; }
    rm -rf "$base"/var/cache/apt/archives/*.deb "$base"/var/lib/apt/lists/* "$base"/usr/share/doc/* \
        "$base"/usr/share/man/* "$base"/usr/share/locale/*
fi
container=$("${store[@]}" from scratch)
tar -C "$base" --one-file-system -cf "$work/base.tar" .
"${store[@]}" add --quiet "$container" "$work/base.tar" / >/dev/null
"${store[@]}" commit --quiet --rm "$container" goals-base >/dev/null
rm "$work/base.tar"

# This machine's certificates, and where its pip finds packages: secrets of the build, in no layer.
cp "${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}" "$work/ca"
{
    printf '[global]\ncert = /run/secrets/ca\n'
    python3 -m pip config list 2>/dev/null |
        sed -nE "s/^(global|:env:)\.((extra-)?index-url|trusted-host|proxy|timeout|retries)='((https?:|[^f/]).*)'$/\2 = \4/p" |
        sort -u -t= -k1,1
} >"$work/pip"
start=$SECONDS
"${store[@]}" bud --isolation chroot --build-arg BASE=localhost/goals-base --build-arg VERSION=test \
    --build-arg REVISION=test --secret "id=pip,src=$work/pip" --secret "id=ca,src=$work/ca" --tag goals \
    . >"$work/build" 2>&1 || { tail -30 "$work/build"; echo "FAILED: the image is built"; exit 1; }
echo "ok: the image is built ($((SECONDS - start)) s)"
sed -nE 's/^([0-9]+ MB (installed|left).*)/    \1/p' "$work/build"

container=$("${store[@]}" from --pull-never localhost/goals)
root=$("${store[@]}" mount "$container")
"${store[@]}" inspect --type image localhost/goals >"$work/image.json"
total=$(megabytes "$root") own=$(megabytes "$root/opt/goals")
check "size $total MB, $own MB of it /opt/goals: less than 700 MB" test "$total" -lt 700
du -sm "$root"/opt/goals/lib/python3*/site-packages/* | sort -rn | awk -F '[\t/]' 'NR <= 8 { print "    " $1 " MB " $NF }'

says() { # EXPRESSION: of `image`, the image's configuration
    python3 -c 'import json, sys; image = json.load(open(sys.argv[1]))["OCIv1"]["config"]; assert eval(sys.argv[2]), image' \
        "$work/image.json" "$1"
}
labels='all(image["Labels"]["org.opencontainers.image." + k] for k in ("title", "description", "licenses", "version", "revision"))'
check "the OCI labels are there" says "$labels"
check "ENTRYPOINT is goals" says 'image["Entrypoint"] == ["goals"]'
check "the user is not root" says 'image["User"] == "1000:1000"'
check "HEALTHCHECK is NONE" grep -q -E '^HEALTHCHECK NONE' Dockerfile
none() { # COMMAND...: prints nothing
    local found
    found=$("$@") || return
    [ -z "$found" ] || { echo "$found" | head -20; return 1; }
}
check "no compiler, linker or make" none find "$root" -xdev -type f \
    -regextype posix-extended -regex '.*/bin/([a-z0-9_]+-linux-gnu-)?(gcc|g\+\+|cc|c\+\+|clang|cpp|ld|as|make|cmake)(-[0-9.]+)?'
check "no pip" none find "$root" -xdev \( -path '*/bin/pip*' -o -path '*-packages/pip*' -o -name ensurepip -o -name 'pip-*.whl' \)
check "no secrets of the build, no caches" none find "$root" -xdev \
    \( -path '*/run/secrets/*' -o -path '*/etc/pip.conf' -o -path '*/root/.cache/*' \)
check "no file of root that others may write" none find "$root" -xdev -user root -type f -perm -0002
check "no folder of root that others may write, but sticky ones" none find "$root" -xdev -user root -type d -perm -0002 -not -perm -1000
check "nothing setuid in /opt/goals" none find "$root/opt/goals" -xdev -perm /6000

# Read-only root, read-only data, one writable folder, a tmpfs for /tmp, no network, no HOME, a user without a name.
mkdir -p "$work/out" "$work/data" "$root/data/in" "$root/data/out"
cp data_samples/mice* "$work/data"
chown 12345:12345 "$work/out"
inside() { # COMMAND...
    unshare --mount --net --fork bash -c '
        root=$1 work=$2
        shift 2
        mount --make-rprivate / && mount --bind "$root" "$root" && mount -o remount,ro,bind "$root"
        mount --bind "$work/data" "$root/data/in" && mount -o remount,ro,bind "$root/data/in"
        mount --bind "$work/out" "$root/data/out" && mount -t tmpfs -o size=64m,mode=1777 none "$root/tmp"
        mount -t proc none "$root/proc" && mount --bind /dev "$root/dev"
        exec chroot --userspec=12345:12345 "$root" /usr/bin/env -i HOME=/nonexistent \
            PATH=/opt/goals/bin:/usr/local/bin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1 sh -c "cd /data && exec \"\$@\"" sh "$@"
    ' bash "$root" "$work" "$@"
}
check "the guest cannot write but to its folder" inside sh -c '
    ! touch /data/x 2>/dev/null && ! touch /opt/goals/x 2>/dev/null && ! touch in/x 2>/dev/null && touch out/x && rm out/x'
check "goals --version" inside goals --version
inside goals --help >/dev/null
timed() { inside python3 -c '
import subprocess, time
def once():
    start = time.perf_counter(); subprocess.run(["goals", "--help"], check=True, capture_output=True)
    return time.perf_counter() - start
best = min(once() for _ in range(5)); print(f"{best:.2f}"); raise SystemExit(best > 0.5)'; }
seconds=$(timed) || failed=1
check "goals --help in $seconds s: less than 0.5 s" test "${seconds/./}" -lt 50
check "every module of goalscli and what it rests on can be imported" inside python3 -W ignore -c '
import importlib, pkgutil, goalscli
for found in pkgutil.walk_packages(goalscli.__path__, "goalscli."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
import bed_reader, bgen, h5py, matplotlib.backends.backend_pdf, matplotlib.backends.backend_svg, pandas, pgenlib, scipy.linalg, scipy.optimize, scipy.stats'
check "the demo" inside goals run --bfile in/mice --pheno in/mice.pheno.tsv --pheno-name weight \
    --covar in/mice.covar.tsv --covar-name age --cat-covar-name sex --groups in/mice.groups.tsv --group-column cage \
    --local all --out out/demo/weight
check "the demo's top table" inside goals top out/demo/weight.scores.h5 --n 5
sed 's/^/    /' "$work/told"
for name in qc.tsv model.h5 scores.h5 top.tsv manhattan.png local.png run.log; do
    check "out/demo/weight.$name is written, by user 12345" test -n \
        "$(find "$work/out/demo/weight.$name" -size +0 -uid 12345 2>/dev/null)"
done
check "an error is one line with exit code 2, no traceback" inside sh -c '
    goals top out/none.scores.h5 2>out/error; test $? -eq 2 && test "$(wc -l <out/error)" -eq 1 && rm out/error'
check "nothing else was written" none find "$work/out" -type f -not -path '*/demo/weight.*'
[ "$failed" -eq 0 ] && echo "all checks hold ($SECONDS s)"
exit "$failed"
