# docker build -t goals .
# docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" goals run --bfile geno --pheno trait.tsv ...
ARG BASE=python:3.12-slim

FROM ${BASE} AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY goalscli goalscli
RUN python -m venv /opt/goals \
 && /opt/goals/bin/pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . \
 && /opt/goals/bin/pip install --no-cache-dir -c constraints.txt /wheels/*.whl \
 && /opt/goals/bin/pip uninstall --yes pip

FROM ${BASE}
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="goalscli" \
      org.opencontainers.image.description="Variant importance from Gaussian process regression, with uncertainty" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /opt/goals /opt/goals
RUN useradd --create-home --uid 1000 goals
USER goals
ENV PATH="/opt/goals/bin:${PATH}"
WORKDIR /data
# A command that ends by itself: its exit code is its health.
HEALTHCHECK NONE
ENTRYPOINT ["goals"]
CMD ["--help"]
