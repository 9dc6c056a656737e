/** The dependency rule (docs/architecture.md): arrows point to domain/, and each layer is reached by one road. */
const { readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

const OURS = [
  'domain',
  'policy',
  'store',
  'temporal',
  'workflows',
  'activities',
  'workers',
  'api',
  'cli',
  'config',
  'console',
  'scripts',
  'test',
  'bench',
];

/** Where a process is put together from its parts. */
const COMPOSITION = '^api/(create-deps|api-parts|main)\\.ts$';

/** One row of the table in CONTRIBUTING.md. */
function only(name, path, may, pathNot) {
  const folder = path.slice(1, -1);
  const not = OURS.filter((ours) => ours !== folder && !may.includes(ours));
  return {
    name: `${name}-sees-only-${may.join('-')}`,
    severity: 'error',
    from: pathNot ? { path, pathNot } : { path },
    to: { path: `^(${not.join('|')})(/|\\.ts$)` },
  };
}

/** Contracts and rules of a feature: pure, as domain/ is. */
const PURE = '^features/.+/(contract|rules|schema|resource)(/|\\.ts$)';

/** Where the list of features enters a process. */
const LISTS_FEATURES =
  '^(config/sections|api/create-deps|api/main|workers/main|cli/main|scripts/[^/]+)\\.ts$';

/** Sources of packages without I/O: they run wherever domain/ does. */
const PURE_PACKAGES = '^packages/((client|scrubber|shell-judge)/src|egress/src/rules|sandbox/src/settings)/';

/** What each package exports, as a pattern of files. */
const PUBLIC_ENTRIES = readdirSync(join(__dirname, 'packages')).flatMap((name) => {
  const manifest = JSON.parse(readFileSync(join(__dirname, 'packages', name, 'package.json'), 'utf8'));
  return Object.values(manifest.exports).map(
    (file) => `^${join('packages', name, file).replaceAll('.', '\\.')}$`,
  );
});

/** Through these files, types may be imported in a circle. */
const CIRCLES_OF_TYPES = [
  // The list of features and their extension points know every layer, and each layer is put together from the list.
  '^domain/feature\\.ts$',
  '^features/index\\.ts$',
  // A section of the settings is checked against the whole of them.
  '^config/section\\.ts$',
  // The schema judges what it reads by rules of its noun, whose types it determines.
  '^domain/schema/(agent|gate|team-task)\\.ts$',
  '^domain/resource/teams\\.ts$',
];

module.exports = {
  forbidden: [
    {
      name: 'packages-stand-alone',
      severity: 'error',
      comment: 'a package imports its own files, what it declares in its package.json, and Node',
      from: { path: '^packages/([^/]+)/' },
      to: {
        path: '.',
        // The built package of the plugin contains the scrubber.
        pathNot: '^packages/$1/|^node_modules/|^packages/scrubber/src/scrubber\\.ts$',
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'packages-declare-what-they-import',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/[^/]+/test/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'tests-of-packages-declare-what-they-import',
      severity: 'error',
      from: { path: '^packages/[^/]+/test/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'pure-packages-are-pure',
      severity: 'error',
      comment: 'they run inside the workflow sandbox',
      from: { path: PURE_PACKAGES },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'packages-are-used-by-their-entries',
      severity: 'error',
      from: { pathNot: '^packages/' },
      to: { path: '^packages/', pathNot: PUBLIC_ENTRIES },
    },
    {
      name: 'core-imports-no-feature',
      severity: 'error',
      from: { pathNot: `^(features|test|bench)/|${LISTS_FEATURES}` },
      to: { path: '^features/' },
    },
    {
      name: 'features-meet-at-their-index',
      severity: 'error',
      comment:
        'what a feature has for others is in its index.ts; its contract and schema are pure, and open to all',
      from: { path: '^features/([^/]+)/', pathNot: '/test/' },
      to: { path: '^features/[^/]+/', pathNot: '^features/(?:$1/|[^/]+/(?:index|contract|schema)\\.ts$)' },
    },
    {
      name: 'contracts-of-features-are-pure',
      severity: 'error',
      from: { path: PURE },
      to: { pathNot: `^domain/|${PURE_PACKAGES}|${PURE}|^node_modules/(zod|croner|marked)/` },
    },
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-circular-types',
      severity: 'error',
      comment: 'a shared type belongs to the file whose subject it is; CIRCLES_OF_TYPES are the exceptions',
      from: {},
      to: { circular: true, viaOnly: { pathNot: CIRCLES_OF_TYPES.join('|') } },
    },
    {
      name: 'domain-is-pure',
      severity: 'error',
      comment: 'domain runs inside the workflow sandbox and in every layer',
      from: { path: '^domain/', pathNot: '^domain/feature\\.ts$' },
      to: { pathNot: ['^domain/', PURE_PACKAGES, '^node_modules/(zod|croner|marked)/'] },
    },
    {
      name: 'workflows-see-domain-only',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        path: '.',
        pathNot: ['^workflows/', '^domain/', PURE_PACKAGES, '^node_modules/@temporalio/(workflow|common)/'],
      },
    },
    {
      name: 'workflows-take-types-of-schemas',
      severity: 'error',
      comment: 'schemas would bring zod into the bundle, and the judge of commands its parser',
      from: { path: '^workflows/' },
      to: {
        path: '^domain/(schema|resource|policy)/|^packages/shell-judge/src/shell-judge\\.ts',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'extension-points-are-types',
      severity: 'error',
      comment: 'they name what each layer takes, and load nothing',
      from: { path: '^domain/feature\\.ts$' },
      to: { pathNot: '^domain/', dependencyTypesNot: ['type-only'] },
    },
    only('store', '^store/', ['domain']),
    only('temporal', '^temporal/', ['domain', 'store']),
    only('policy', '^policy/', ['domain', 'store']),
    only('activities', '^activities/', ['domain', 'store', 'policy', 'temporal']),
    only('api', '^api/', ['domain', 'store', 'policy', 'temporal', 'config'], COMPOSITION),
    {
      name: 'tools-reach-the-world-through-deps',
      severity: 'error',
      comment: 'a tool states its needs by Pick<ToolDeps, …>',
      from: { path: '^(activities|features/[^/]+)/tools/' },
      to: {
        path: '^(store|temporal|activities/(model|tools))/|^features/[^/]+/store(/|\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'cli-speaks-http',
      severity: 'error',
      comment: 'commands use the HTTP contract; features/local starts processes',
      from: { path: '^cli/' },
      to: { path: '^(api|workflows|workers|activities|store|policy|temporal|test|bench)/' },
    },
    {
      name: 'console-is-for-browsers',
      severity: 'error',
      comment: 'its pages have the HTTP API, whose types are generated, and packages that its build contains',
      from: { path: '^console/src/' },
      to: {
        path: '.',
        pathNot: [
          '^console/src/',
          '^packages/client/src/client\\.ts$',
          '^node_modules/(preact|@preact/signals|dompurify|marked|uplot)/',
        ],
      },
    },
    {
      name: 'nothing-imports-workers',
      severity: 'error',
      comment: 'but for the type of what a feature makes its part of a worker of',
      from: {
        pathNot:
          '^(workers|test|bench)/|^domain/feature\\.ts$|^features/([^/]+/worker|projects/feature-sdk/manifest)\\.ts$',
      },
      to: { path: '^workers/' },
    },
    {
      name: 'nothing-imports-tests',
      severity: 'error',
      from: { pathNot: '^(test|bench|(features|packages)/[^/]+/test)/' },
      to: { path: '^(test|(features|packages)/[^/]+/test)/' },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // Programs whose packages are installed elsewhere, when they are first used.
    exclude: { path: '^bench/league/peers/[^/]+/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      mainFields: ['main', 'types'],
    },
  },
};
