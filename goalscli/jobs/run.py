"""``goals run``: fit, scan, top table and both pictures in one call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from goalscli.errors import GoalsError, SettingsError
from goalscli.jobs.fit import FitRequest, fit, fit_outputs
from goalscli.jobs.inputs import output_prefixes
from goalscli.jobs.model_file import KIND as MODEL_KIND
from goalscli.jobs.plot import LocalPlot, plot_local, plot_manhattan
from goalscli.jobs.report import ReportSettings, report
from goalscli.jobs.results import top_table
from goalscli.jobs.scan import scan
from goalscli.jobs.scan_request import ScanRequest, ScanRun
from goalscli.runtime import LOG, scan_prefix
from goalscli.store import atomic, check_equal, opened, read_attributes, refuse_existing

OUTPUTS = ("model.h5", "qc.tsv", "scores.h5", "top.tsv")


def run(
    request: FitRequest,
    scan_request: ScanRequest,
    out: str,
    scan_run: ScanRun = ScanRun(),  # noqa: B008 (frozen)
    *,
    n_top: int = 20,
    picture: LocalPlot = LocalPlot(),  # noqa: B008 (frozen)
    page: bool = False,
) -> list[Path]:
    """Do the whole job.

    Parameters
    ----------
    request, scan_request : FitRequest, ScanRequest
        What determines the results.
    out : str
        PREFIX; for several traits PREFIX.TRAIT.
    scan_run : ScanRun
        How it is carried out. With ``resume``, a complete model or scan of the same settings is used again.
    n_top : int
        Rows of PREFIX.top.tsv.
    picture : LocalPlot
        Settings of the picture by group.
    page : bool
        Also write PREFIX.report.html.

    Returns
    -------
    list of Path
        Every file written, in order.
    """
    if n_top < 1:
        raise SettingsError(f"{n_top} variants", where="--n-top", remedy="give 1 or more")
    request.model.check_scores([score.needs for score in scan_request.scores])
    traits = (request.tables.pheno_name or "one").split(",")
    prefixes = output_prefixes(out, traits)
    if not scan_run.resume:
        for prefix in prefixes:
            results = [*OUTPUTS, *pictures(scan_request), *["report.html"] * page]
            refuse_existing([Path(f"{prefix}.{name}") for name in results], scan_run.overwrite)
    if scan_run.resume and all(Path(f"{prefix}.model.h5").is_file() for prefix in prefixes):
        models = [_same_fit(Path(f"{prefix}.model.h5"), request) for prefix in prefixes]
    else:
        models = fit(request, out, overwrite=scan_run.overwrite or scan_run.resume, threads=scan_run.threads)
    written = []
    for model in models:
        written += _rest(model, scan_request, scan_run, n_top, picture)
        if page:
            prefix, settings = (
                scan_prefix(model),
                ReportSettings(n_top=n_top, n_groups=picture.n_groups, model=str(model)),
            )
            written.append(report(f"{prefix}.scores.h5", f"{prefix}.report.html", settings, overwrite=True))
    return written


def _same_fit(model: Path, request: FitRequest) -> Path:
    with opened(model, MODEL_KIND) as file:
        check_equal(model, read_attributes(file), {"settings": request.settings()})
    LOG.info("%s is complete", model)
    return model


def _rest(model: Path, request: ScanRequest, how: ScanRun, n_top: int, picture: LocalPlot) -> list[Path]:
    prefix = scan_prefix(model)
    scores = scan(model, request, prefix, how)
    table = Path(f"{prefix}.top.tsv")
    with atomic(table) as partial:
        partial.write_text(top_table(scores, n_top))
    drawn = pictures(request)
    written = [
        plot_manhattan(scores, f"{prefix}.{name}", value=value, overwrite=True)
        for name, value in drawn.items()
        if value is not None
    ]
    try:
        if "local.png" in drawn:
            local = plot_local(scores, f"{prefix}.local.png", replace(picture, model=str(model)), overwrite=True)
            written.append(local)
    except GoalsError as error:
        # Without groups there is no such picture; the scores are none the worse for it.
        LOG.warning("warning: no picture by group: %s", error)
    return [*fit_outputs(prefix), scores, table, *written]


def pictures(request: ScanRequest) -> dict[str, str | None]:
    """Pictures of a run: name → what the Manhattan plot shows, None for the one by group."""
    scores = {score.name: score for score in request.scores}
    values = [name for name in ("goals", "rate", "psi") if name in scores]
    shown = {"goals": "p"}
    drawn: dict[str, str | None] = {
        f"manhattan{'' if k == 0 else '.' + name}.png": shown.get(name, name) for k, name in enumerate(values)
    }
    if "goals" in scores:
        if scores["goals"].settings()["loco"]:
            drawn["manhattan.loco.png"] = "loco"
        drawn["local.png"] = None
    return drawn
