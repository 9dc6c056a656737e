/** Remote code execution and sending data out. */
import { allSources, inputSources } from '../all-sources.ts';
import { runsFile } from '../code-of.ts';
import { DOWNLOADERS } from '../download-then-run.ts';
import { INTERPRETERS, SHELLS } from '../parse/wrappers.ts';
import { argumentsOf, programOf, type ShellCommand, type ShellWord } from '../shell-command.ts';
import { categoryOf, isAboutItself, lineOf, ON_ANOTHER_MACHINE } from './rule.ts';

const isInterpreter = (command: ShellCommand): boolean => INTERPRETERS.test(programOf(command));
const isRunner = (command: ShellCommand): boolean =>
  SHELLS.has(programOf(command)) ||
  isInterpreter(command) ||
  ['eval', 'source', '.', 'parallel', 'make', 'at', 'batch', 'crontab'].includes(programOf(command));

/** Modules and code that treat their input as data: `curl … | python3 -m json.tool`. */
const readsData = (command: ShellCommand): boolean =>
  isInterpreter(command) &&
  !command.isOpen &&
  (runsFile(command) || argumentsOf(command).some((word, at, all) => isDataCode(all[at - 1]?.value, word)));

const isDataCode = (option: string | undefined, { value, isLiteral }: ShellWord): boolean =>
  isLiteral &&
  ((option === '-m' && value === 'json.tool') ||
    (/^-(?:[a-zA-Z]*[ce]|pe|-eval)$/.test(option ?? '') &&
      !/exec|eval|compile|import_module|__import__|system|spawn|popen|subprocess|Function|runIn|load|require\(\s*[^'"]|pickle|`/i.test(
        value,
      )));

const downloads = (commands: readonly ShellCommand[]): boolean =>
  [...allSources(commands)].some((each) => DOWNLOADERS.has(programOf(each)));

/** A download is the command's input, perhaps through other commands, as in `curl … | base64 -d | sh`. */
const reads = (command: ShellCommand): boolean =>
  downloads(inputSources(command.input)) && !readsData(command);

/** An address of this machine: `localhost`, 127.0.0.0/8, 0.0.0.0 and their IPv6 forms, in any spelling. */
function isThisMachine({ value }: ShellWord): boolean {
  const address = /^\w+:\/\//.test(value) ? value.replace(/^\w+/, 'http') : `http://${value}`;
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return /^127\.|^0\.0\.0\.0$|(?:^|\.)localhost\.?$|^\[::(?:1|(?:ffff:)?(?:7f[\da-f]{2}|0):[\da-f]+)?\]$/.test(
    hostname,
  );
}

/** It runs what another command of the line downloads; a rule of this category has it. */
export const runsDownload = (command: ShellCommand): boolean =>
  isRunner(command) &&
  (reads(command) ||
    argumentsOf(command).some((word) => downloads(word.sources)) ||
    command.redirects.some((each) => downloads(each.target?.sources ?? [])));

const USE_NETWORK = 'curl wget fetch http https aria2c xh curlie';

export const dataExfiltration = categoryOf('data_exfiltration', [
  {
    rule: 'remote_code',
    deny: 'runs what it downloads',
    when: runsDownload,
  },
  {
    rule: 'remote_code',
    deny: 'runs what it downloads',
    when: (command) => downloads(command.words[0]?.sources ?? []),
  },
  {
    rule: 'upload',
    deny: 'sends data out',
    programs: 'curl curlie',
    letters: 'dFT',
    names: 'data data-ascii data-binary data-raw data-urlencode form form-string upload-file json url-query',
  },
  {
    rule: 'upload',
    deny: 'sends data out',
    programs: 'curl curlie',
    line: /(?:^|\s)(?:-[a-zA-Z]*X\s*|--request[= ])(?:POST|PUT|PATCH|DELETE)/i,
  },
  {
    rule: 'upload',
    deny: 'sends data out',
    programs: 'wget',
    names: 'post-data post-file body-data body-file method',
  },
  {
    rule: 'upload',
    deny: 'sends data out',
    programs: 'http https xh',
    argument: /^(?:POST|PUT|PATCH|DELETE)$|[@:]=|=@|^[\w-]+@/,
  },
  {
    rule: 'request_file',
    confirm: 'takes its requests from a file',
    programs: 'curl wget aria2c',
    letters: 'Ki',
    names: 'config input-file use-askpass',
    when: (command) => programOf(command) !== 'curl' || /(?:^|\s)-[a-zA-Z]*K|--conf/.test(lineOf(command)),
  },
  {
    rule: 'metadata_service',
    deny: 'reads the machine’s own credentials',
    programs: USE_NETWORK,
    argument:
      /169\.254\.169\.254|169\.254\.170\.2|metadata\.google|fd00:ec2|100\.100\.100\.200|2852039166|0xa9fea9fe|\[::ffff:a9fe/i,
  },
  {
    rule: 'local_address',
    deny: 'reaches this machine',
    isForAuthors: true,
    programs: USE_NETWORK,
    // The number of an option, as in `--retry 0`, is no address.
    when: (command) =>
      argumentsOf(command).some(
        (word, at, all) => isThisMachine(word) && !(word.value === '0' && all[at - 1]?.value.startsWith('-')),
      ),
  },
  {
    rule: 'local_address',
    confirm: 'reaches the network of this machine',
    programs: USE_NETWORK,
    argument:
      /^(?:\w+:\/\/)?(?:[^/@]*@)?(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|\[f[cd]|0x|\d{8,10}(?=[:/]|$))/i,
  },
  {
    rule: 'file_url',
    confirm: 'reads files by URL',
    programs: USE_NETWORK,
    // curl also reads letters of the scheme from braces and brackets.
    argument: /^(?:file|gopher|dict|ldap|scp|sftp|smb|telnet):|^\w*[[{][^\s"':]*:\//i,
  },
  {
    rule: 'sends_output',
    confirm: 'puts what a command prints into a request',
    programs: `${USE_NETWORK} ping whois`,
    when: (command) => argumentsOf(command).some((word) => word.sources.length > 0),
  },
  {
    rule: 'dns_query',
    deny: 'puts its words into a question to other machines',
    isForAuthors: true,
    programs: 'nslookup dig host drill delv kdig dog adig ahost dnslookup',
    when: (command) => !isAboutItself(command),
  },
  {
    rule: 'dns_query',
    deny: 'puts its words into a question to other machines',
    isForAuthors: true,
    programs: 'resolvectl systemd-resolve getent',
    subcommand: /^(?:query|a?hosts(?:v[46])?)\b/,
  },
  {
    rule: 'sends_files',
    deny: 'copies files to another machine',
    isForAuthors: true,
    programs: 'rsync ftp rclone s3cmd',
    argument: ON_ANOTHER_MACHINE,
  },
  {
    rule: 'sends_files',
    deny: 'copies files to another machine',
    isForAuthors: true,
    programs: 'ftp tftp lftp croc magic-wormhole wormhole',
    when: (command) => !isAboutItself(command),
  },
]);
