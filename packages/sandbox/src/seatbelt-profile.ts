/**
 * The confinement as a profile of macOS's sandbox (SBPL): the last rule that matches decides. Services that would run
 * something outside for any client are closed, together with all other services that are files or names. Of names, only
 * those that every program needs are open.
 */
/** What a command cannot reach. All paths are real paths. */
export interface Confinement {
  /** Files and folders that are hidden; they need not exist yet. */
  readonly hidden: readonly string[];
  /** Readable folders below hidden ones. */
  readonly shown: readonly string[];
  /** Folders, also below hidden ones, in which a command sees only its own folders. */
  readonly apart: readonly string[];
  /** TCP ports to which nothing connects, on any host, and on which nothing listens. */
  readonly ports: readonly number[];
}

const NEEDED_NAMES = [
  'com.apple.system.notification_center',
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.opendirectoryd.membership',
  'com.apple.system.logger',
  'com.apple.SecurityServer',
  'com.apple.trustd',
  'com.apple.trustd.agent',
  'com.apple.SystemConfiguration.configd',
  'com.apple.dnssd.service',
];
const DEVICES = ['/dev/null', '/dev/zero', '/dev/stdout', '/dev/stderr', '/dev/dtracehelper'];
const RESOLVER = '/private/var/run/mDNSResponder';

/** `folders`: the command's own. */
export function seatbeltProfile(
  { hidden, shown, apart, ports }: Confinement,
  folders: readonly string[],
): string {
  const subpaths = (paths: readonly string[]): string =>
    paths.map((path) => `(subpath ${text(path)})`).join(' ');
  const literals = (paths: readonly string[]): string =>
    paths.map((path) => `(literal ${text(path)})`).join(' ');
  const isShown = (path: string): boolean => shown.some((folder) => path.startsWith(`${folder}/`));
  const unseen = (paths: readonly string[]): string =>
    `(deny file-read-data file-read-xattr process-exec* ${subpaths([...paths, ...apart])})`;
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    unseen(hidden),
    `(allow file-read* process-exec* ${subpaths(shown)})`,
    unseen(hidden.filter(isShown)),
    `(allow file-read* file-write* process-exec* ${subpaths(folders)})`,
    `(allow file-write-data ${literals(DEVICES)})`,
    `(deny file-link ${subpaths([...hidden, ...apart])})`,
    ...ports.flatMap((port) => [
      `(deny network-outbound (remote tcp "*:${port}"))`,
      `(deny network-bind (local tcp "*:${port}"))`,
    ]),
    '(deny network-outbound (remote unix-socket))',
    `(allow network-outbound (literal ${text(RESOLVER)}))`,
    '(deny mach-lookup)',
    `(allow mach-lookup ${NEEDED_NAMES.map((name) => `(global-name ${text(name)})`).join(' ')})`,
    '(deny appleevent-send)',
    '(deny job-creation)',
    '(deny mach-priv-task-port)',
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(allow process-info* signal (target same-sandbox))',
  ].join('\n');
}

function text(value: string): string {
  return `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
