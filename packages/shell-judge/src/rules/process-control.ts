/** Ending processes that the command did not start. */
import { categoryOf } from './rule.ts';

export const processControl = categoryOf('process_control', [
  { deny: 'ends processes by name', programs: 'pkill killall killall5 skill xkill slay taskkill tskill' },
  {
    deny: 'ends processes by force',
    programs: 'kill',
    argument: /^(?:-(?:9|s?KILL|SIGKILL)|KILL|SIGKILL|-s9|-n9)$/i,
  },
  { deny: 'ends the first process or all of them', programs: 'kill', line: /(?:^|\s)(?:1|0|-1|-- -\d+)$/ },
  { deny: 'ends who uses a file or port', programs: 'fuser', letters: 'kK', names: 'kill' },
  {
    deny: 'ends processes by code',
    programs: /^(?:python[\d.]*|perl|ruby|node|php)$/,
    code: /os\.kill|process\.kill|Process\.kill|\bkillpg|posix_kill|kill\s+["']?(?:9|KILL)/,
  },
  {
    deny: 'enters a running process',
    programs: 'gdb strace ltrace reptyr',
    argument: /^(?:-p\d*|--pid(?:=.*)?|attach)$/,
  },
]);
