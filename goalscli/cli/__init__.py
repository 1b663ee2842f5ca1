"""The ``goals`` command: parse, call one job, report. Commands are imported when called."""

from __future__ import annotations

import sys
import traceback

import click

from goalscli import __version__
from goalscli.cli.lazy import LazyGroup
from goalscli.errors import GoalsError, told

COMMANDS = {
    "run": ("goalscli.cli.run", "The whole job: fit, scan, top table and pictures."),
    "fit": ("goalscli.cli.fit", "Quality control, kernel and variance components: a model."),
    "check": ("goalscli.cli.check", "Say what is wrong with the inputs of a fit, and what it would use."),
    "scan": ("goalscli.cli.scan", "Score every variant of a model's data."),
    "gram": ("goalscli.cli.gram", "Part of the Gram matrix, for array jobs."),
    "merge": ("goalscli.cli.merge", "Merge the parts of a scan."),
    "posterior": ("goalscli.cli.posterior", "Joint posterior of a few variants: covariance, intervals, draws."),
    "top": ("goalscli.cli.top", "Print the top variants of a scan."),
    "export": ("goalscli.cli.export", "Write every variant's scores as TSV or Parquet."),
    "info": ("goalscli.cli.info", "Say what a model or scores file holds."),
    "plot": ("goalscli.cli.plot", "Draw a scan: genome, effects by group, sample or genotype."),
    "report": ("goalscli.cli.report", "A scan in one HTML page: pictures, top variants, provenance."),
    "simulate": ("goalscli.cli.simulate", "Make data with known truth."),
}


@click.group(cls=LazyGroup, commands_at=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="goals")
def goals() -> None:
    """Which variants matter for a trait, in which individuals, and how sure that is.

    A Gaussian process is fitted to all genotypes at once; GOALS scores tell how its prediction changes when one variant
    is shifted, for every individual and on average, with standard deviations and p-values.

    \b
    goals run --bfile mice --pheno mice.tsv --pheno-name weight --out weight
    """


def main() -> None:
    """Run the command line; exit 0 done, 2 the user's error, 1 ours, 130 or 143 interrupted."""
    try:
        goals.main(prog_name="goals", standalone_mode=False)
    except GoalsError as error:
        more = f" (and {len(error.others)} more: goals check lists them)" if error.others else ""
        _fail(f"{error}{more}", error.exit_code)
    except click.exceptions.Abort:
        _fail("interrupted", 130)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "goals"
        if error.ctx and len(sys.argv) == len(command.split()):
            # A command of which nothing was asked answers with its help.
            click.echo(error.ctx.get_help(), err=True)
            sys.exit(error.exit_code)
        _fail(f"{error.format_message()}; see {command} --help", error.exit_code)
    except click.ClickException as error:
        _fail(error.format_message(), error.exit_code)
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except OSError as error:
        # Of files already checked: a full disk, a lost mount.
        _fail(f"{error.filename or 'a file'} cannot be read or written: {told(error)}", 2)
    except MemoryError:
        _fail("out of memory; use fewer samples or a larger machine, or lower --chunk-size and --threads", 2)
    except Exception:
        traceback.print_exc()
        _fail("this is a bug in goals; please report it with the lines above", 1)


def _fail(message: str, code: int) -> None:
    print(f"goals: error: {message}", file=sys.stderr)
    sys.exit(code)
