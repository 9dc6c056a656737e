/**
 * Prepares variables for packages. Each program imports this before all else, because packages read variables too, some
 * while they are imported.
 */

// An empty variable is an unset one: compose files and shells set variables without a value to the empty string.
for (const [name, value] of Object.entries(process.env)) if (value === '') delete process.env[name];

/** Our own servers on this machine are never called through a proxy, which could not reach them. */
const THIS_MACHINE = ['localhost', '127.0.0.1', '::1'];

// gRPC's own variable takes precedence over the others for it.
const exceptions = [
  'no_proxy',
  'NO_PROXY',
  ...(process.env['no_grpc_proxy'] === undefined ? [] : ['no_grpc_proxy']),
];
const known = process.env['no_proxy'] ?? process.env['NO_PROXY'];
if (Object.keys(process.env).some((name) => /^(https?|grpc|all)_proxy$/i.test(name)))
  for (const name of exceptions)
    process.env[name] = [process.env[name] ?? known, ...THIS_MACHINE].filter(Boolean).join(',');
