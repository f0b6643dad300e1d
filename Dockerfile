# pathveil for an ordinary user, without a network when it runs:
#
#   docker build --tag pathveil .
#   docker run --rm --interactive --tty --network none --user "$(id -u):$(id -g)" \
#       --volume "$PWD:/data" --volume pathveil:/var/lib/pathveil pathveil publish
#
# Only the build needs packages, from wherever your pip gets them. The volume keeps the ledger and the
# compiled parts; without it each run compiles anew, for a minute or so.
ARG PYTHON=python:3.13-slim
FROM ${PYTHON} AS build
WORKDIR /build
# What is pinned, with the hashes of all its files; then pathveil itself, which asks for nothing more.
COPY requirements.txt ./
RUN python -m venv /opt/pathveil && \
    /opt/pathveil/bin/pip install --no-cache-dir --require-hashes --requirement requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/pathveil/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM ${PYTHON}
COPY --from=build /opt/pathveil /opt/pathveil
ENV PATH=/opt/pathveil/bin:$PATH HOME=/var/lib/pathveil
# Open to whichever user it runs as; the program itself belongs to root and can't be changed.
RUN useradd --uid 10001 pathveil && mkdir /data $HOME && chmod 1777 /data $HOME
USER pathveil
WORKDIR /data
ENTRYPOINT ["pathveil"]
CMD ["--help"]
