/**
 * Patterns of secrets with a recognizable form (vendors' prefixes, tokens, connection strings). They are linear like the
 * vendors' (vendor-patterns.ts).
 */
import { row, type SecretPattern, VENDORS } from './vendor-patterns.ts';

const SHAPES: readonly SecretPattern[] = [
  // `bot` precedes it in addresses of the Bot API.
  row('telegram', /(?<=(?<![A-Za-z0-9])(?:bot)?)\d{5,12}:AA[\w-]{30,}|(?<=\/bot)\d{5,12}:[\w-]{30,}/g, [
    ':AA',
    '/bot',
  ]),
  // In a JWE with a direct key (RFC 7516) the second part is empty.
  row(
    'jwt',
    /(?<![\w-])eyJ[\w-]{6,}\.(?:[\w-]{6,}(?:\.[\w-]{0,}){1,3}|\.[\w-]{10,}\.[\w-]{2,}\.[\w-]{16,})/g,
    ['eyJ'],
  ),
  // A private key (of any type) as base64, as in kubeconfig and CI variables; certificates differ in these bytes.
  row(
    'private_key',
    /LS0tLS1CRUdJTiB(?:QUklWQVRFIEtFWS|SU0EgUFJJVkFURS|FQyBQUklWQVRF|PUEVOU1NIIFBSSVZBVEUg|EU0EgUFJJVkFURS|FTkNSWVBURUQg|QR1AgUFJJVkFURS)[A-Za-z0-9+/=_-]{8,}/g,
    ['LS0tLS1CRUdJTiB'],
  ),
  // Only the password of a URL's user part. A reference such as ${PASS} or <password>, or `PASSWORD` or `xxxxx`, is kept.
  row(
    'url_password',
    /(?<=(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,30}:\/\/[^\s:@/?#"'<>]{0,128}:)(?!\$(?:[{(]|[A-Za-z_]\w*@)|[<{]|\[REDACTED\]|(?:PASSWORD|PASS|PWD|SECRET|TOKEN)@|(\S)\1*@(?![^\s/"'<>]{0,256}@))[^\s/"'<>]{1,256}(?=@)/g,
    ['://'],
  ),
  // The same in the syntax of Go's driver for MySQL: `user:…@tcp(host:3306)/db`, `user:…@/db`.
  row(
    'url_password',
    /(?<=(?<![\w.%+:/-])[\w.%+-]{1,64}:)(?!\$(?:[{(]|[A-Za-z_]\w*@)|[<{]|\[REDACTED\]|(\S)\1*@)(?:[^\s"'`<>]{1,256}(?=@(?:(?:tcp[46]?|udp[46]?|unix|cloudsql)\(|\([\w.-]{1,253}:\d))|[^\s/"'`<>]{1,256}(?=@\/\w))/g,
    ['@tcp', '@udp', '@unix', '@cloudsql', '@(', '@/'],
  ),
  // The same without a scheme: `curl … user:…@host`. A tag before a digest has no host behind it.
  row(
    'url_password',
    /(?<=(?<![\w.%+:/@-])[\w.%+-]{6,64}:)(?=[A-Za-z]{0,64}\d)(?=\d{0,64}[A-Za-z])[A-Za-z0-9_-]{20,128}(?=@(?:[A-Za-z][\w-]{0,62}\.){1,6}[A-Za-z]{2,24}(?![\w-]))/g,
    ['@'],
  ),
  // The row of an access key that AWS gives as a file.
  row(
    'aws',
    /(?<=(?<![A-Za-z0-9])A(?:KIA|SIA)[0-9A-Z]{16}["']?[ \t]{0,4}[,;:|\t][ \t]{0,4}["']?)[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])/g,
    ['AKIA', 'ASIA'],
  ),
  row('url_token', /(?<=https?:\/\/)(?!\[REDACTED\])(?=[^\s@/:]{0,40}\d)[A-Za-z0-9_-]{20,256}(?=@)/g, [
    '://',
  ]),
  row(
    'signature',
    /(?<=[?&](?:sig|signature|X-Amz-Signature|X-Goog-Signature|X-Amz-Security-Token)=)[\w%+/=-]{16,}/gi,
    ['ig=', 'IG=', 'ature=', 'ATURE=', 'oken=', 'OKEN='],
  ),
  // `key` has many other meanings: only a value with digits and capitals counts, and no words joined by dashes.
  row(
    'url_token',
    /(?<=[?&]key=)(?=[A-Za-z_-]{0,40}\d)(?=[\da-z_-]{0,40}[A-Z])(?=[\dA-Z_-]{0,40}[a-z])(?=(?:[\dA-Za-z]{0,15}[_-]){0,8}[\dA-Za-z]{16})[\w-]{24,256}(?=[&\s"'#<]|$)/g,
    ['?key=', '&key='],
  ),
  row(
    'authorization',
    /(?<=(?<![\w-])(?:bearer|basic|token|digest)[ \t]{1,4})(?=[^\s"',;]{0,200}(?:[0-9]|=[\s"',;]|=$))(?!\[REDACTED\])[A-Za-z0-9+/=_.~-]{16,}/gi,
    ['earer', 'asic', 'oken', 'igest', 'EARER', 'ASIC', 'OKEN', 'IGEST'].flatMap((word) =>
      [' ', '\t'].map((blank) => word + blank),
    ),
  ),
  // Digits in two places, or consecutive capitals twice, exclude words of a sentence about bearers.
  row(
    'authorization',
    /(?<=(?<![\w-])(?:[Bb]earer|BEARER)[ \t]{1,4})(?=[^\s"',;]{0,60}(?:\d[^\s"',;\d]{1,60}\d|[A-Z]{2}[a-z][^\s"',;]{0,60}[A-Z]{2}[a-z]))[\w+/.~-]{10,}={0,2}/g,
    ['earer ', 'earer\t', 'EARER ', 'EARER\t'],
  ),
  // Credentials in `curl -u user:password` and similar.
  row(
    'command_line',
    /(?<=(?<!\S)(?:-u[ =]{0,2}|(?:--user|--proxy-user|-U)[ =]{1,2})["']?[\w.@-]{1,64}:)(?![$<{[]|(\S)\1*(?![^\s"']))[^\s"'@]{4,}/g,
    ['-u', '--user ', '--user=', '-U ', '-U=', '--proxy-user ', '--proxy-user='],
  ),
  row(
    'command_line',
    /(?<=(?<![\w-])https?(?:[ ][^\n|;&]{0,80})?[ ](?:-a|--auth)[ =]["']?[\w.@-]{1,64}:)(?![$<{[])[^\s"']{4,128}/g,
    ['http'],
  ),
  row(
    'command_line',
    /(?<=(?<![\w-])gh[ ]secret[ ]set[ ](?:[^\n|;&]{0,200}[ ])?(?:-b|--body)[ =]["']?)(?![$<{[])[^\s"']{4,4096}/g,
    ['gh secret'],
  ),
  // A token as the user, without a password: `curl -u TOKEN:X`, `curl -u TOKEN:`.
  row(
    'command_line',
    /(?<=(?<!\S)(?:-u[ =]{0,2}|--user[ =]{1,2})["']?)(?=[A-Za-z_-]{0,40}\d)(?=[\d_-]{0,40}[A-Za-z])[A-Za-z0-9_-]{20,256}(?=:(?:[Xx]|api_token)?(?:["'\s]|$))/g,
    ['-u', '--user ', '--user='],
  ),
  // A published port is no password: `--name mongo -p 27017:27017`.
  row(
    'command_line',
    /(?<=(?<![\w-])(?:mongo(?:sh|dump|restore|import|export)?[ ](?:[^\n|;&]{0,200}[ ])?-p[ ]|(?:sqlcmd|bcp|zip|unzip)[ ](?:[^\n|;&]{0,200}[ ])?-P[ ]?|7z[ar]?[ ](?:[^\n|;&]{0,200}[ ])?-p|ldap(?:search|add|modify|delete|passwd|whoami)[ ](?:[^\n|;&]{0,200}[ ])?-w[ ]|-pass(?:in|out|word)?[ ]pass:|smbclient[ ](?:[^\n|;&]{0,200}[ ])?-U[ ][\w.\\-]{1,64}%)["']?)(?![$<{["'-]|[\d.:]+(?:\s|$))[^\s"']{4,128}/g,
    ['mongo', 'sqlcmd', 'bcp', 'zip', '7z', 'ldap', 'pass:', 'smbclient'],
  ),
  row('command_line', /(?<=::add-mask::)(?![$<{])\S{4,4096}/g, ['::add-mask::']),
  row('wifi', /(?<=WIFI:(?:[A-Z]:[^;\n]{0,64};){0,4}P:)[^;\s]{4,128}(?=;)/g, ['WIFI:']),
  row('connection_string', /(?<=;[ ]?PWD[ ]?=[ ]?)(?![/$<{~])[^;\s"']{4,256}/g, [';PWD', '; PWD']),
  row('command_line', /(?<=(?<!\S)sshpass[ ]{1,3}-p[ ]?["']?)(?![$<{[])[^\s"']{4,}/g, ['sshpass']),
  row(
    'command_line',
    /(?<=(?<![\w-])(?:mysql|mysqldump|mysqladmin|mariadb)(?:[ ][^\n|;&]{0,200})?[ ]-p)(?![$<{[=])[^\s"']{4,128}/g,
    ['mysql', 'mariadb'],
  ),
  row(
    'command_line',
    /(?<=(?<![\w-])redis-cli(?:[ ][^\n|;&]{0,200})?[ ](?:-a|--pass)[ ]["']?)(?![$<{[])[^\s"']{4,128}/g,
    ['redis-cli'],
  ),
  row(
    'command_line',
    /(?<=(?<![\w-])(?:(?:docker|podman|nerdctl|oras|helm registry|az(?: acr)?) login)[ ](?:[^\s|;&]{1,64}[ ]){0,8}-p[ ]{1,3}["']?)(?![$<{["'-])[^\s"']{4,128}/g,
    ['login'],
  ),
  // The private part of a JSON Web Key (RFC 7517).
  row('private_key', /(?<="d"\s{0,3}:\s{0,3}")[\w-]{32,}(?=")/g, ['"kty"']),
  row('private_key', /(?<="k"\s{0,3}:\s{0,3}")[\w-]{22,}(?=")/g, ['"oct"']),
  // CREATE USER … IDENTIFIED BY '…', ALTER ROLE … WITH PASSWORD '…'
  row(
    'sql_password',
    /(?<=(?<!\w)(?:identified(?:\s{1,3}with\s{1,3}[\w"'-]{1,64})?\s{1,3}by|(?:with|encrypted|login|superuser|createdb|createrole|(?:role|user)\s{1,3}[^\s;]{1,64})\s{1,3}password)\s{1,3}')(?!(\S)\1*'|[$<{[:%*?])[^'\n]{4,256}(?=')/gi,
    ["y '", "Y '", "ord '", "ORD '"],
  ),
  row(
    'sql_password',
    /(?<=(?<!\w)set\s{1,3}password(?:\s{1,3}for\s{1,3}[^\s=]{1,64})?\s{0,3}=\s{0,3}(?:password\()?')(?!(\S)\1*'|[$<{[:%*?])[^'\n]{4,256}(?=')/gi,
    ["= '", "='", "('"],
  ),
  row('url_password', /(?<=jdbc:oracle:thin:[\w.-]{1,64}\/)(?![$<{[])[^\s@/"']{4,128}(?=@)/g, [
    'jdbc:oracle',
  ]),
  // A line of .pgpass: host:port:database:user:password
  row(
    'pgpass',
    /(?<=^[\w.*-]{1,128}:(?:\d{2,5}|\*):[A-Za-z_*][\w*-]{0,63}:[A-Za-z_*][\w*.-]{0,63}:)(?!\[REDACTED\])[^\s:]{6,256}$/gm,
    [':5432:', ':*:'],
  ),
  row(
    'netrc',
    /(?<=(?<!\S)login[ \t\n]{1,4}\S{1,128}[ \t\n]{1,4}password[ \t]{1,4})(?!\[REDACTED\])\S{4,}/g,
    ['login'],
  ),
];

/** A vendor's prefix followed only by one repeated letter, as in documentation: `ghp_xxxx…`. */
export function isMasked({ isVendors, needs }: SecretPattern, found: string): boolean {
  if (!isVendors || found.at(-1) !== found.at(-2)) return false;
  return needs.some(({ text }) => {
    const at = found.indexOf(text);
    return at >= 0 && at < 3 && /^(?:[a-z0-9]{0,8}[-_.]){0,3}(.)\1*$/.test(found.slice(at + text.length));
  });
}

export const SECRET_PATTERNS: readonly SecretPattern[] = [...VENDORS, ...SHAPES];
