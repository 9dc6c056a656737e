/** Connections that provide a shell to others, and the pipes that they consist of. */
import { argumentsOf } from '../shell-command.ts';
import { categoryOf } from './rule.ts';

/** Code that opens connections. */
const NETWORK_CODE =
  /\bsocket\b|use\s+(?:IO::)?Socket|IO::Socket|TCPSocket|TCPServer|\burllib|\brequests\b|http\.client|httplib|aiohttp|httpx|net\.(?:connect|createConnection|Socket)|require\(\s*["'`](?:node:)?(?:net|tls|dgram|http|https|http2|axios|got|undici)["'`]|\bimport\s*(?:\(|[^;]*\bfrom)?\s*["'`](?:node:)?(?:net|tls|dgram|https?|http2|axios|got|undici)["'`]|fsockopen|pfsockopen|stream_socket|LWP::|Net::|open-uri|\/dev\/tcp|\bfetch\s*\(|pty\.spawn/i;

const CODE_RUNNERS =
  /^(?:python[\d.]*|pypy\d*|perl[\d.]*|ruby[\d.]*|irb|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*|tclsh|expect)$/;

export const reverseShell = categoryOf('reverse_shell', [
  {
    deny: 'opens a raw connection',
    programs: 'nc ncat netcat nc.traditional nc.openbsd socat telnet',
    when: (command) =>
      !argumentsOf(command).every((word) => /^(?:-[hV]|--?help|--version)$/.test(word.value)),
  },
  { deny: 'makes a named pipe', programs: 'mkfifo' },
  { deny: 'makes a named pipe or a device', programs: 'mknod' },
  {
    deny: 'opens a connection by code',
    programs: CODE_RUNNERS,
    code: NETWORK_CODE,
    line: /(?:^|\s)(?:-[a-zA-Z]*[ceErnpM]|--eval|--print|eval\b)/,
  },
  { deny: 'opens a connection by code', programs: 'ruby', argument: /^-r\s*socket/ },
  { deny: 'opens a raw connection', programs: 'openssl', argument: /^s_(?:client|server)$/ },
  { deny: 'opens a connection from awk', programs: /^[gmn]?awk$/, argument: /\/inet[46]?\// },
  {
    deny: 'opens a connection by redirection',
    when: (command) =>
      command.redirects.some((each) => /^\/dev\/(?:tcp|udp)\//.test(each.target?.value ?? '')),
  },
]);
