/** Harmless programs with an option that starts another program or writes a file. */
import { argumentsOf, programOf, type ShellCommand } from '../shell-command.ts';
import { categoryOf } from './rule.ts';

/** Options of compilers, package managers and downloaders that start a program or load code. */
const STARTING =
  /^--?(?:filt|exec|toolexec|vettool|config|script-shell|fplugin|wrapper|plugin|engine|provider-path|javaagent|agent(?:path|lib)|on-|downloader|shell-escape|enable-write18|eval|options|rsh-command|speller)|use_?askpass/;

/** Switches of go and java without a value. */
const SWITCH = /^-(?:jar|race|trimpath|[anvx])$/;

/** The words that the program itself reads, without those of the script, package or class that it starts. */
function ownWordsOf(command: ShellCommand): readonly string[] {
  const words = argumentsOf(command).map((word) => word.value);
  const program = programOf(command);
  const isStarter = program === 'java' || (program === 'go' && words[0] === 'run');
  const end = words.findIndex((word, at) => {
    if (program === 'npm' || program === 'cargo') return word === '--';
    if (!isStarter || word.startsWith('-') || (program === 'go' && at === 0)) return false;
    // It may be the value of the option before it.
    const previous = words[at - 1] ?? '';
    return !previous.startsWith('-') || previous.includes('=') || SWITCH.test(previous);
  });
  return end < 0 ? words : words.slice(0, end);
}

export const filterBypass = categoryOf('filter_bypass', [
  { deny: 'starts a program for sorting', programs: 'sort gsort', names: 'compress-program' },
  { deny: 'changes or writes what the shell remembers of commands', programs: 'history', letters: 'sawnrcd' },
  {
    deny: 'starts a program from sed',
    programs: 'sed gsed',
    argument: /(?:^|[;{}\n]|\d|\$|\/|[\d$]!)\s*e(?:\s|$)|s([/|,#@!])(?:(?!\1).)*\1(?:(?!\1).)*\1[gpiImM\d]*e/,
  },
  {
    confirm: 'writes files from sed',
    programs: 'sed gsed',
    argument: /(?:^|[;{}\n]|\d|\$|\/)\s*[wW]\s|s([/|,#@!])(?:(?!\1).)*\1(?:(?!\1).)*\1[gpiImM\d]*w/,
  },
  {
    deny: 'starts a program for reading manuals',
    programs: 'man',
    letters: 'HP',
    names: 'html pager browser gxditview',
  },
  {
    deny: 'starts a program that git is told',
    programs: 'git',
    names: 'upload-pack receive-pack exec ext-diff extcmd open-files-in-pager',
  },
  // Perl also reads these with one dash, in capitals and abbreviated. A server that is a path is a program.
  {
    deny: 'starts a program that git is told',
    programs: 'git',
    subcommand: /^send-email\b/,
    line: /(?:^|\s)--?(?:sendm|he(?!lp)|(?:to|cc)-cm|smtp-server[= ][/~])/i,
  },
  // The same options in their short forms.
  {
    deny: 'starts a program that git is told',
    programs: 'git',
    subcommand: /^grep\b/,
    argument: /^-[^\Wef]*O/,
  },
  { deny: 'starts a program that git is told', programs: 'git', subcommand: /^clone\b/, letters: 'u' },
  {
    confirm: 'begins a repository with settings or hooks from elsewhere',
    programs: 'git',
    subcommand: /^(?:clone|init)\b/,
    letters: 'c',
    names: 'config template',
  },
  {
    confirm: 'starts a program that git is told',
    programs: 'git',
    argument: /^(?:ext::|-c$|-c\w|--config-env|--exec-path=)/,
    when: (command) =>
      /^(?:-c|--config-env|--exec-path)/.test(argumentsOf(command)[0]?.value ?? '') ||
      argumentsOf(command).some((word) => word.value.startsWith('ext::')),
  },
  {
    confirm: 'starts a program from git',
    programs: 'git',
    subcommand: /^(?:bisect run|submodule foreach|difftool|mergetool|filter-branch)\b/,
  },
  { confirm: 'starts a program from git', programs: 'git', subcommand: /^rebase\b/, argument: /^-\w*x/ },
  {
    deny: 'starts a program from tar',
    programs: 'tar gtar bsdtar',
    names: 'to-command checkpoint-action use-compress-program rsh-command new-volume-script info-script',
  },
  { confirm: 'starts a program from tar', programs: 'tar gtar bsdtar', letters: 'IF' },
  { deny: 'starts a program from rsync', programs: 'rsync', names: 'rsh rsync-path' },
  { confirm: 'starts a program from pandoc', programs: 'pandoc', letters: 'FL', names: 'filter lua-filter' },
  {
    confirm: 'starts a program, or loads code, that its options name',
    programs:
      'split go cargo npm gcc g++ cc c++ clang clang++ ld openssl java javac aria2c yt-dlp youtube-dl tex latex pdflatex xelatex lualatex rpm ctags cpio nano wget',
    when: (command) => ownWordsOf(command).some((word) => STARTING.test(word)),
  },
  {
    confirm: 'starts a program from a shell of a database',
    programs: 'mysql mariadb psql sqlite3 sqlite',
    argument: /(?:^|[\n;])\s*(?:\\!|\\copy\b.*\bprogram\b|\.(?:shell|system|load)\b)/i,
  },
  {
    deny: 'starts a program from zip',
    programs: 'zip unzip rsync',
    argument: /^(?:-TT.*|--unzip-command.*|--rsh=.*|--rsync-path=.*)$/,
  },
  { deny: 'starts a program while searching', programs: 'rg grep', names: 'pre hostname-bin' },
  {
    confirm: 'starts a program from awk',
    programs: /^[gmn]?awk$/,
    argument: /\bsystem\s*\(|\|\s*&?\s*getline|getline\s*<|\|&|(?:print|printf)\b[^;}]*\|\s*"/,
  },
  {
    deny: 'starts a program from an editor',
    programs: 'vi vim nvim view vimdiff ex ed emacs nano less more most',
    argument: /(?:^|[:+\s])!|system\(|shell-command|--eval|-c\s*:?py|:terminal/,
  },
  {
    deny: 'starts a program when it connects',
    programs: 'ssh scp sftp',
    argument: /proxycommand|localcommand|knownhostscommand|permitlocalcommand/i,
  },
  {
    confirm: 'reads its rules from its input',
    programs: 'make gmake just ninja',
    line: /(?:^|\s)(?:-f\s*-|--(?:make)?file[= ]-|--eval|SHELL=|-f\s*\/dev)/,
  },
  { confirm: 'starts a program from gdb', programs: 'gdb lldb', argument: /^-(?:ex|x|o|batch)$|!|shell/ },
]);
