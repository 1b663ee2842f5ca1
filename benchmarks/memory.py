"""Peak memory of ``goals run`` must not grow with the number of variants.

On 500 simulated samples with ten times as many variants the peak may grow by 20 % and 1 kB a variant at most: what
stays is the variant table, not the genotypes. The cohort is simulated in a process of its own.
"""

from __future__ import annotations

from common import Table, best_run, goals, load, mb, parser, simulated, workspace


def main() -> None:
    options = parser(__doc__).parse_args()
    n, sizes, repeat = (60, (500, 2000), 1) if options.smoke else (500, (10_000, 100_000), options.repeat)
    table = Table(
        f"goals run --local top:100, {n} samples, best time and greatest peak of {repeat}; {load()}", not options.smoke
    )
    peaks = []
    with workspace() as folder:
        for j in sizes:
            data = simulated(folder, n, j)
            argv = ["run", *data.options(), "--local", "top:100", "--out", f"{folder}/out{j}", "--overwrite"]
            run = best_run(repeat, lambda argv=argv: goals(*argv))
            peaks.append(run.peak)
            table.add(f"{j:,} variants", f"{run.seconds:.1f} s, {mb(run.peak)}")
    small, large = peaks
    allowed = 0.2 * small + 1000 * (sizes[1] - sizes[0])
    table.add(
        "growth of the peak",
        mb(large - small),
        f"{large / small:.2f}x",
        f"below 20 % + 1 kB a variant = {mb(allowed)}",
        large - small < allowed,
    )
    table.show()


if __name__ == "__main__":
    main()
