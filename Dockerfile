# The API, the worker and the command line in one image; docker-compose.yml picks which one runs. It is the npm package with what npm
# installs beside it (scripts/build-package.ts), on Debian with Node, git and Python.
FROM node:24-bookworm-slim AS package
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages packages
# No package needs its install script.
RUN npm ci --ignore-scripts --no-audit
COPY . .
RUN node scripts/build-package.ts /package
# The image needs Temporal's native library of one platform, and nothing that is only for those who write code.
RUN cd /package \
  && npm ci --omit=dev --ignore-scripts --no-audit \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} + \
  && rm -r node_modules/@temporalio/*/src types \
  && find . -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
# Symbols for debugging Node itself are a seventh of it.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends binutils \
  && strip --strip-unneeded -o /node "$(command -v node)"

FROM debian:bookworm-slim
# git for agents' repositories, bubblewrap and Python for the sandbox, certificates for models and webhooks. What git does with Perl's
# modules, such as sending mails, is left out.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git python3 \
  && apt-get clean \
  && rm -rf /var/lib/apt/lists/* /usr/share/perl /usr/lib/*-linux-gnu/perl \
  && useradd --create-home --uid 1000 node \
  && mkdir /state /workspaces \
  && chown node:node /state /workspaces
COPY --from=package /node /usr/local/bin/node
# npm installs Chromium when an agent first uses a browser.
COPY --from=package /usr/local/lib/node_modules/npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
WORKDIR /app
COPY --from=package /package .
USER node
VOLUME ["/state", "/workspaces"]
ENV NODE_ENV=production TEMPOCLAW_STATE_DIR=/state TEMPOCLAW_WORKSPACE_ROOT=/workspaces
EXPOSE 7400
ENTRYPOINT ["node", "bin/tempoclaw.js"]
CMD ["--help"]
