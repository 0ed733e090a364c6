# Semel, and the example tool. What builds stays behind:
#
#   docker build -t semel .                        the proxy
#   docker build -t booking_tool --target booking_tool .
#
# `--build-arg CCACHE_REMOTE_STORAGE=redis://HOST:PORT` lets a second build reuse what the first compiled.

FROM debian:bookworm-slim AS build
SHELL ["/bin/bash", "-euc"]
WORKDIR /src
# The list of packages is the one of scripts/run; an edit of a source does not install them again.
COPY scripts/lib.sh scripts/
RUN source scripts/lib.sh; install_missing "${run_packages[@]}"
COPY . .
ARG CCACHE_REMOTE_STORAGE=
RUN source scripts/lib.sh; \
    build release -DSEMEL_TESTS=OFF -- semel booking_tool; \
    strip build/release/semel build/release/booking_tool

FROM debian:bookworm-slim AS booking_tool
COPY deploy/healthy /usr/local/bin/
COPY --from=build /src/build/release/booking_tool /usr/local/bin/
USER nobody
EXPOSE 9000
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s --retries=3 CMD ["healthy", "9000", "/effects"]
ENTRYPOINT ["booking_tool"]
CMD ["--address", "0.0.0.0", "--port", "9000"]

FROM debian:bookworm-slim
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="Semel" \
      org.opencontainers.image.description="An HTTP reverse proxy that lets each side effect through at most once" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.licenses="Apache-2.0"
# The libraries that the program is linked with, and the authorities that https tools are checked against.
RUN apt-get update -q \
    && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends ca-certificates libssl3 \
         libicu72 libyaml-cpp0.7 libsqlite3-0 libhiredis0.14 libpq5 libprometheus-cpp-core1.0 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin semel \
    && install -d /etc/semel && install -d -o semel -g semel -m 0700 /var/lib/semel
COPY deploy/healthy /usr/local/bin/
COPY --from=build /src/build/release/semel /usr/local/bin/
COPY examples/booking.yaml /etc/semel/semel.yaml
RUN ["semel", "version"]
USER 10001:10001
# What the example configuration reads from the environment; a configuration of your own need not.
ENV SEMEL_ADDRESS=0.0.0.0 SEMEL_STATE=/var/lib/semel
# All that is ever written: the root may be read-only.
VOLUME /var/lib/semel
EXPOSE 8080 9100
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s --retries=3 CMD ["healthy"]
ENTRYPOINT ["semel"]
CMD ["serve", "/etc/semel/semel.yaml"]
