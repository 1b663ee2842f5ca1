#!/usr/bin/env bash
# SLURM on this machine alone, to try job scripts: one_node_slurm.sh start|stop
# Debian or Ubuntu, as root: apt-get install slurmctld slurmd slurm-client munge
# Nothing is accounted or limited by cgroups, so that it runs in a container too. `stop` leaves no trace of it.
set -euo pipefail

mark="# one-node SLURM of one_node_slurm.sh"
conf=/etc/slurm/slurm.conf
state=/run/one_node_slurm

die() {
    echo "one_node_slurm.sh: $*" >&2
    exit 2
}

ours() { [ -e "$conf" ] && head -n 1 "$conf" | grep -qxF "$mark"; }

# stop_daemon NAME: by the id in its pid file, if that is (still) the daemon; up to 20 s, then by force.
stop_daemon() {
    local pid
    pid=$(cat "$state/$1.pid" 2>/dev/null) || return 0
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ] || return 0
    kill "$pid" 2>/dev/null || return 0
    for _ in $(seq 100); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.2
    done
    kill -KILL "$pid" 2>/dev/null || true
}

stop() {
    if [ -e "$conf" ] && ! ours; then
        die "$conf is not of this script; left alone"
    fi
    if ours; then
        scancel --quiet --user=root 2>/dev/null || true
        stop_daemon slurmd
        stop_daemon slurmctld
        rm -f "$conf"
        [ ! -e "$state/made_etc_slurm" ] || rmdir --ignore-fail-on-non-empty /etc/slurm
    fi
    stop_daemon munged
    rm -rf "$state"
}

write_conf() {
    local name=$1 cpus memory
    cpus=$(nproc)
    memory=$(awk '/^MemTotal/ { print int($2 / 1024 * 0.95) }' /proc/meminfo)
    cat >"$conf" <<END
$mark
ClusterName=one
SlurmctldHost=$name(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
DefMemPerCPU=500
AuthInfo=cred_expire=10
MinJobAge=600
KillWait=10
ReturnToService=2
SlurmctldPidFile=$state/slurmctld.pid
SlurmctldLogFile=$state/slurmctld.log
SlurmdPidFile=$state/slurmd.pid
SlurmdLogFile=$state/slurmd.log
StateSaveLocation=$state/ctld
SlurmdSpoolDir=$state/slurmd
NodeName=$name NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=$memory State=UNKNOWN
PartitionName=all Nodes=$name Default=YES MaxTime=INFINITE State=UP
END
}

start() {
    local name
    [ "$(id -u)" -eq 0 ] || die "needs root"
    for program in slurmctld slurmd sinfo munged unmunge; do
        command -v "$program" >/dev/null || die "$program: not found; apt-get install slurmctld slurmd slurm-client munge"
    done
    if [ -e "$conf" ]; then
        ours || die "$conf is there and not of this script; left alone"
        stop # what a killed run has left
    fi
    name=$(hostname -s)
    trap 'echo "one_node_slurm.sh: start failed" >&2; tail -n 20 "$state"/*.log >&2 || true; stop' ERR
    mkdir -p "$state/ctld" "$state/slurmd"
    chmod 755 "$state"
    if ! munge -n 2>/dev/null | unmunge >/dev/null 2>&1; then
        install -d -o munge -g munge -m 755 /run/munge "$state/munge"
        [ -e /etc/munge/munge.key ] || runuser -u munge -- mungekey
        runuser -u munge -- munged --pid-file "$state/munge/munged.pid" --log-file "$state/munge/munged.log"
        ln -s munge/munged.pid "$state/munged.pid"
    fi
    if [ ! -d /etc/slurm ]; then
        mkdir /etc/slurm
        touch "$state/made_etc_slurm"
    fi
    write_conf "$name"
    slurmctld
    slurmd -N "$name"
    for _ in $(seq 100); do
        if [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; then
            trap - ERR
            echo "one node, $name: sbatch, squeue and scancel work"
            return
        fi
        sleep 0.2
    done
    false
}

case "${1-}" in
    start) start ;;
    stop) stop ;;
    *) die "say start or stop" ;;
esac
