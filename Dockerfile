# Two stages: everything that builds stays behind. `docker build -t semel .`
FROM debian:bookworm-slim AS build
RUN apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
      clang-19 lld-19 binutils libc6-dev cmake ninja-build \
      libboost1.81-dev libssl-dev libicu-dev libyaml-cpp-dev libsqlite3-dev libxxhash-dev prometheus-cpp-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cmake --preset release -DSEMEL_TESTS=OFF \
    && cmake --build --preset release -j2 --target semel booking_tool \
    && strip build/release/semel build/release/booking_tool

FROM debian:bookworm-slim
RUN apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
      ca-certificates curl libssl3 libicu72 libyaml-cpp0.7 libsqlite3-0 libprometheus-cpp-core1.0 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin semel \
    && install -d -o semel -g semel /etc/semel /var/lib/semel
COPY --from=build /src/build/release/semel /src/build/release/booking_tool /usr/local/bin/
COPY examples/booking.yaml /etc/semel/semel.yaml
USER semel
# What the example configuration reads from the environment; a configuration of your own need not.
ENV SEMEL_ADDRESS=0.0.0.0 SEMEL_STATE=/var/lib/semel
VOLUME /var/lib/semel
EXPOSE 8080 9100
HEALTHCHECK --interval=5s --timeout=2s --start-period=5s --retries=3 \
  CMD curl -sf -o /dev/null http://127.0.0.1:9100/healthz || exit 1
ENTRYPOINT ["semel"]
CMD ["serve", "/etc/semel/semel.yaml"]
