from pathlib import Path
from shlex import join


wildcard_constraints:
    trait="|".join(map(re.escape, config["traits"])),
    part=r"\d+",
    parts=r"\d+",
    plot="manhattan|qq|region|local|beeswarm|dependence|heatmap",


def options(*steps):
    """The options of these steps, with {data} filled in; as words."""
    return [str(word).replace("{data}", config["data"]) for step in steps for word in config["options"][step]]


FIT = options("genotypes", "tables", "fit")


def files(*steps):
    """The files that these options name, so that a newer one leads to a new run. goals itself tells of missing ones."""
    words = [name.replace("{chrom}", "*") for word in options(*steps) for name in word.split(",")]
    found = set()
    for word in words:
        if word.startswith("-") or "/" not in word and "." not in word:
            continue
        path = Path(word)
        for suffix in ("", ".bed", ".bim", ".fam", ".pgen", ".pvar", ".psam", ".pvar.zst"):
            found.update(str(hit) for hit in path.parent.glob(path.name + suffix) if hit.is_file())
    return sorted(found)


def parts(kind):
    """All files of a step that runs in parts."""
    count = config[f"{kind}_parts"]
    name = {"gram": "gram", "scan": "part"}[kind]
    return [f"results/{{trait}}.{name}-{part}-of-{count}.h5" for part in range(1, count + 1)]


def passing(path):
    """A file that nobody needs afterwards, unless keep_parts says so."""
    return path if config["keep_parts"] else temp(path)


def checked(wildcards):
    return [f"results/{wildcards.trait}.check.ok"] if config["check"] else []


def needs(step, what):
    return config["resources"][step][what]


def memory(step):
    """MB; a job that failed is given more."""

    def at(wildcards, attempt):
        return needs(step, "mem_mb") * attempt

    return at


def gib(wildcards, resources):
    """For --memory: a job that would need more says so at once instead of being killed."""
    return f"{resources.mem_mb / 1024:g}"
