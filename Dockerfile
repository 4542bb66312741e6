# Belfry's images, one target per process: docker build --target api|scheduler|dispatcher|all-in-one|migrate .
# Node is pinned by version. To pin it by content too, as for a release, pass the tested digest:
#   --build-arg NODE_IMAGE=node:24.19.0-bookworm-slim@sha256:...
ARG NODE_IMAGE=node:24.19.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /belfry
ENV CI=true
# Packages are fetched again only when the lockfile changes.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
RUN npx --yes "$(node -p 'require("./package.json").packageManager')" fetch
COPY . .
RUN node scripts/bootstrap.mjs && node scripts/bundle.mjs && node scripts/assemble.mjs /images

FROM ${NODE_IMAGE} AS runtime
# The images install no packages, so they need no package managers.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
  /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-*
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Belfry" \
  org.opencontainers.image.version="0.3.0-dev" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.revision="${REVISION}"
# Twice the space for young objects, so most objects of a request are garbage before they would be copied. The old generation
# may grow by the size of its live objects (--heap-growing-percent, which this variable cannot hold). By default, on a large
# machine, Node lets it grow four times as much, and within 512 MB then marks all of it every second or two under load.
# A container publishes the ports that it is told to.
ENV HOST=0.0.0.0 METRICS_HOST=0.0.0.0 BELFRY_REVISION=${REVISION}
ENV NODE_ENV=production NODE_OPTIONS="--max-semi-space-size=32 --max-old-space-size=512"
WORKDIR /app
# The user `node` by number, so Kubernetes can verify that it is not root.
USER 1000:1000
STOPSIGNAL SIGTERM

FROM runtime AS scheduler
COPY --from=build /images/scheduler ./
ENV METRICS_PORT=9090
EXPOSE 9090
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["bash", "probe-health.sh", "METRICS_PORT"]
CMD ["node", "--heap-growing-percent=100", "services/scheduler/dist/main.mjs"]

FROM runtime AS dispatcher
COPY --from=build /images/dispatcher ./
ENV METRICS_PORT=9090
EXPOSE 9090
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["bash", "probe-health.sh", "METRICS_PORT"]
CMD ["node", "--heap-growing-percent=100", "services/dispatcher/dist/main.mjs"]

FROM runtime AS api
COPY --from=build /images/api ./
ENV PORT=3000 METRICS_PORT=9090
EXPOSE 3000 9090
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["bash", "probe-health.sh", "PORT"]
CMD ["node", "--heap-growing-percent=100", "services/api/dist/main.mjs"]

# A one-off job: `deploy` applies missing migrations, `wait` waits until they are applied; see docs/self-hosting.md.
FROM runtime AS migrate
COPY --from=build /images/migrate ./
HEALTHCHECK NONE
ENTRYPOINT ["node", "prisma/dist/main.mjs"]
CMD ["deploy"]

# All three services in one process, with the commands of `migrate`, and a PostgreSQL for the volume /data where DATABASE_URL
# names no other. The last target is the default of a build without --target, because some platforms cannot choose one, and
# it declares no VOLUME, because some platforms refuse that.
FROM runtime AS all-in-one
USER root
# As the first process of the container, tini reaps the processes that a crashed PostgreSQL leaves.
RUN apt-get update && apt-get install -y --no-install-recommends "tini=0.19.0-*" && rm -rf /var/lib/apt/lists/* \
  && install -d -m 0700 -o 1000 -g 1000 /data
USER 1000:1000
COPY --from=build /images/all-in-one ./
ENV DATA_DIR=/data PORT=3000 METRICS_PORT=9090
EXPOSE 3000 9090
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["bash", "probe-health.sh", "METRICS_PORT"]
ENTRYPOINT ["tini", "--"]
CMD ["node", "--heap-growing-percent=100", "run-container.mjs"]
