# docker build -t goals .
# docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" goals run --bfile geno --pheno trait.tsv ...
# docs/docker.md says more: a read-only container, podman, Apptainer on a cluster.
ARG BASE=python:3.12-slim

FROM ${BASE} AS build
# Optional readers and writers to put in: pgen (--pfile), parquet (goals export).
ARG EXTRAS=pgen
WORKDIR /src
COPY scripts/install_in_image.sh pyproject.toml constraints.txt README.md LICENSE ./
COPY goalscli goalscli
# Behind a mirror or a proxy with certificates of its own: docker build --secret id=pip,src=pip.conf --secret id=ca,src=ca.crt
# with "cert = /run/secrets/ca" in pip.conf. Secrets are there while this line runs, and in no layer.
RUN --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=secret,id=ca \
    sh install_in_image.sh /src /opt/goals "${EXTRAS}"

FROM ${BASE}
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="goalscli" \
      org.opencontainers.image.description="Variant importance from Gaussian process regression, with uncertainty" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# The base's own pip: nobody is to install anything here.
RUN rm -rf /usr/local/lib/python3*/site-packages/pip* /usr/local/lib/python3*/ensurepip /usr/local/bin/pip* \
    /usr/lib/python3*/ensurepip /usr/share/python-wheels
COPY --from=build /opt/goals /opt/goals
# A number, so that it needs no entry in /etc/passwd, any more than --user does.
USER 1000:1000
ENV PATH="/opt/goals/bin:${PATH}" \
    PYTHONDONTWRITEBYTECODE=1
WORKDIR /data
# A command that ends by itself: its exit code is its health.
HEALTHCHECK NONE
ENTRYPOINT ["goals"]
CMD ["--help"]
