# Belfry's images, one target per process: docker build --target api|scheduler|dispatcher|all-in-one|migrate .
# Node is pinned by its version. To pin it by its content too, as for a release, give the digest that was tested:
#   --build-arg NODE_IMAGE=node:24.19.0-bookworm-slim@sha256:...
ARG NODE_IMAGE=node:24.19.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /belfry
ENV CI=true
# The packages are fetched again only when the lockfile changes.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
RUN npx --yes "$(node -p 'require("./package.json").packageManager')" fetch
COPY . .
RUN node scripts/bootstrap.mjs && node scripts/bundle.mjs && node scripts/assemble.mjs /images

FROM ${NODE_IMAGE} AS runtime
# What installs packages has no place where nothing is installed.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
  /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-*
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Belfry" \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.revision="${REVISION}"
# Twice the room for what is young: what a request or a call needs is then mostly gone before it would be copied. And as much
# old garbage as what lives (--heap-growing-percent, which this variable cannot hold): by the memory of a large machine Node
# would let it grow to four times that, and within 512 MB mark all of it every second or two under load.
ENV NODE_ENV=production NODE_OPTIONS="--max-semi-space-size=32 --max-old-space-size=512"
WORKDIR /app
# The user `node`, by number, so that Kubernetes can tell that it is not root.
USER 1000:1000
STOPSIGNAL SIGTERM

FROM runtime AS scheduler
COPY --from=build /images/scheduler ./
ENV METRICS_PORT=9090
EXPOSE 9090
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["node", "probe-health.mjs", "METRICS_PORT"]
CMD ["node", "--heap-growing-percent=100", "services/scheduler/dist/main.mjs"]

FROM runtime AS dispatcher
COPY --from=build /images/dispatcher ./
ENV METRICS_PORT=9090
EXPOSE 9090
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["node", "probe-health.mjs", "METRICS_PORT"]
CMD ["node", "--heap-growing-percent=100", "services/dispatcher/dist/main.mjs"]

# The three as one process, for a small installation.
FROM runtime AS all-in-one
COPY --from=build /images/all-in-one ./
ENV PORT=3000 METRICS_PORT=9090
EXPOSE 3000 9090
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["node", "probe-health.mjs", "METRICS_PORT"]
CMD ["node", "--heap-growing-percent=100", "services/all-in-one/dist/main.mjs"]

# Runs to its end: `deploy` applies what is missing, `wait` waits until somebody has; see docs/self-hosting.md.
FROM runtime AS migrate
COPY --from=build /images/migrate ./
HEALTHCHECK NONE
ENTRYPOINT ["node", "prisma/dist/main.mjs"]
CMD ["deploy"]

# The last one is what a build without --target makes.
FROM runtime AS api
COPY --from=build /images/api ./
ENV PORT=3000 METRICS_PORT=9090
EXPOSE 3000 9090
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["node", "probe-health.mjs", "PORT"]
CMD ["node", "--heap-growing-percent=100", "services/api/dist/main.mjs"]
