/** What remains after the command and runs again by itself. */
import { isGitInternal } from '../git-internals.ts';
import { globMayMatch } from '../glob-may-match.ts';
import { pathWordsOf, writtenPathsOf } from '../path-words.ts';
import { programOf, type ShellCommand, type ShellWord } from '../shell-command.ts';
import { categoryOf, lineOf, normalPath } from './rule.ts';

const STARTUP_FILES =
  /(?:^|\/)(?:\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|kshrc|cshrc|tcshrc|login|inputrc|xinitrc|xprofile|pam_environment|vimrc|gitconfig|npmrc|pypirc|pythonrc)|authorized_keys2?|rc\.local|crontab|config\.fish|ld\.so\.preload)$/;
const STARTUP_FOLDERS =
  /(?:^|\/)(?:cron\.[a-z]+|spool\/cron|init\.d|systemd\/(?:system|user)|autostart|LaunchAgents|LaunchDaemons|profile\.d|\.husky|\.ssh|\.config\/(?:fish|autostart|systemd)|sitecustomize\.py|usercustomize\.py)(?:\/|$)/;

/** `git config --global --list`, `git config --system core.editor`. */
const SHOWS_SETTINGS =
  /^config (?:--(?:global|local|name-only|null|show-origin|show-scope|system|type=\w+) )*(?:-l|--list|list|--get-regexp \S+|(?:--get(?:-all)? |get (?:--(?:all|global|system) )*)?[\w-]+\.[\w.-]+)$/;

/** A pattern such as `.g*` may match it; `*` alone does not. */
function namesGit(word: ShellWord): boolean {
  const path = normalPath(word);
  return (
    isGitInternal(path) ||
    (word.isGlob &&
      path.split('/').some((part) => /[*?[]/.test(part) && globMayMatch(part.toLowerCase(), '.git')))
  );
}

/** `rm .git/index.lock`, after a git process that was killed. */
function isLock(word: ShellWord, command: ShellCommand): boolean {
  return programOf(command) === 'rm' && word.value.endsWith('.lock');
}

export const persistence = categoryOf('persistence', [
  {
    deny: 'changes the schedule',
    programs: 'crontab',
    when: (command) => !(command.words.length === 2 && command.words[1]?.value === '-l'),
  },
  { deny: 'schedules a command', programs: 'at batch schtasks atd' },
  {
    deny: 'starts with the machine from now on',
    programs: 'systemctl',
    argument: /^(?:enable|link|preset|edit|mask|set-default|daemon-reload)$/,
  },
  {
    deny: 'starts with the machine from now on',
    programs: 'update-rc.d chkconfig rc-update launchctl systemd-run',
  },
  { deny: 'writes to a file that shells and services read when they start', written: STARTUP_FILES },
  { deny: 'writes where programs are started from', written: STARTUP_FOLDERS },
  {
    deny: 'writes to git’s own files, from which git starts programs',
    when: (command) => writtenPathsOf(command).some((word) => namesGit(word) && !isLock(word, command)),
  },
  {
    confirm: 'enters or copies git’s own files, from which git starts programs',
    programs: 'cd pushd cp ln install rsync',
    when: (command) => pathWordsOf(command).some(namesGit),
  },
  {
    deny: 'changes which programs npm starts',
    programs: 'npm pnpm yarn',
    subcommand: /^(?:config set|c set|set)\b/,
  },
  {
    confirm: 'changes which programs git starts',
    programs: 'git',
    subcommand: /^config\b/,
    when: (command) => !SHOWS_SETTINGS.test(lineOf(command)),
    line: /hookspath|pager|editor|sshcommand|askpass|fsmonitor|credential|alias\.|textconv|filter\.|external|gitproxy|uploadpack|--global|--system|include|insteadof|\.cmd|program/i,
  },
  {
    confirm: 'leaves a process behind',
    programs: 'disown daemonize screen tmux pm2 start-stop-daemon',
    when: (command) => command.words.length > 1,
  },
]);
