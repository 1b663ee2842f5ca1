#!/bin/sh
# Installs goals into a virtual environment of its own: what Dockerfile and apptainer.def have in common.
# Usage: install_in_image.sh SOURCE TARGET [EXTRAS], e.g. install_in_image.sh /src /opt/goals parquet,pgen
set -eu
source=$1 target=$2 extras=${3:-}

python3 -m venv "$target"
pip="$target/bin/python -m pip --disable-pip-version-check --no-cache-dir"
wheels=$(mktemp -d)
$pip wheel --quiet --no-deps --wheel-dir "$wheels" "$source"
# Wheels only: nothing is compiled here, so that the image needs no compiler.
$pip install --quiet --no-compile --only-binary :all: -c "$source/constraints.txt" \
    "$(echo "$wheels"/goalscli-*.whl)${extras:+[$extras]}"
$pip uninstall --quiet --yes pip setuptools 2>/dev/null || $pip uninstall --quiet --yes pip
rm -rf "$wheels"

# Tests, and headers and libraries to compile against, are of no use at run time. bed_reader reads a list of its tests
# when imported, and numpy.testing is imported by scipy.
packages=$(echo "$target"/lib/python3*/site-packages)
du -sm "$packages" | sed 's/[^0-9].*/ MB installed/'
find "$packages" -depth -type d \( -name tests -o -name test -o -name '*_test_data' \) -not -path '*/bed_reader/*' \
    -exec rm -rf {} +
find "$packages/bed_reader/tests" -type f -not -name registry.txt -delete
rm -rf "$packages"/matplotlib/mpl-data/sample_data "$packages"/pyarrow/include "$packages"/pyarrow/src \
    "$packages"/numpy/_core/include "$packages"/numpy/_core/lib "$packages"/numpy/f2py/src
find "$packages" \( -name '*.a' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.pyi' \) -delete
rm -f "$target"/bin/activate* "$target"/bin/Activate.ps1

# Bytecode that does not ask for the source's time: a read-only image cannot write it later, and copies change times.
"$target/bin/python" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$packages" || true
du -sm "$packages" | sed 's/[^0-9].*/ MB left, bytecode included/'
"$target/bin/goals" --version
