/** Destructive file operations, disk destruction, system control, databases. The parser recognizes fork bombs. */
import { INTERPRETERS } from '../parse/wrappers.ts';
import { programOf } from '../shell-command.ts';
import { categoryOf, lineOf } from './rule.ts';

/** Programs of disks as they only show something. */
const SHOWS_DISKS =
  /^(?:(?:fdisk|gdisk) (?:-l|--list)|sfdisk (?:-[dlJ]|--(?:dump|list|json))|sgdisk (?:-p|--print)|parted -l|diskutil (?:list|info)|zpool (?:list|status)|mdadm (?:-[DE]|--detail|--examine)|cryptsetup (?:isLuks|luksDump|status)|hdparm -[iI])(?: [\w/][\w./-]*)*$|^parted \/\S+ print$/;

/** Block devices by their usual names. */
export const BLOCK_DEVICE =
  /^\/dev\/(?:[shvx]v?d[a-z]|nvme\d|mmcblk|disk\d|rdisk|loop\d|dm-|md\d|mapper\/|zd\d|nbd\d|ram\d)/;

export const destructiveOps = categoryOf('destructive_ops', [
  {
    rule: 'destructive_files',
    deny: 'deletes recursively or by force',
    programs: 'rm grm srm',
    letters: 'rRf',
    names: 'recursive force no-preserve-root',
  },
  {
    rule: 'destructive_files',
    deny: 'deletes by a pattern from the root or the home folder',
    programs: 'rm rmdir unlink',
    path: /^(?:\/|~\/?|\*|\.\.?\/?)\*?$/,
  },
  {
    rule: 'destructive_files',
    deny: 'deletes many files',
    programs: 'rm',
    when: (command) =>
      command.via.some((by) => by === 'find' || by === 'xargs' || by === 'parallel' || by === 'fd'),
  },
  {
    rule: 'destructive_files',
    deny: 'deletes every file found',
    programs: 'find gfind',
    argument: /^-delete$/,
  },
  { rule: 'destructive_files', deny: 'overwrites files for good', programs: 'shred wipe scrub sdelete' },
  {
    rule: 'destructive_files',
    confirm: 'deletes untracked files',
    programs: 'git',
    subcommand: /^clean\b/,
    line: /\s-[a-zA-Z]*f|--force/,
  },
  {
    rule: 'destructive_files',
    deny: 'deletes files by code',
    programs: INTERPRETERS,
    code: /rmtree|rmSync|rmdirSync|unlinkSync|rm_rf|remove_tree|removeSync|Deno\.remove\b|\bunlink\b|fs\.rm\b|os\.(?:remove|unlink|removedirs)|\brm\s+-\w*[rRf]|[Rr]emove-[Ii]tem\b[^;|]*\s-(?:[Rr]ec|[Ff]o)/,
  },
  {
    rule: 'destructive_files',
    deny: 'deletes files',
    programs: 'del erase rd rmdir',
    argument: /^\/[sfqSFQ]$/,
  },
  {
    rule: 'disk_destruction',
    deny: 'makes a file system or partitions',
    programs:
      /^(?:mkfs(?:\..+)?|mke2fs|mkswap|wipefs|fdisk|sfdisk|cfdisk|gdisk|sgdisk|parted|blkdiscard|diskpart|newfs|diskutil|lvremove|vgremove|pvremove|zpool|mdadm|cryptsetup|hdparm)$/,
    when: (command) => !SHOWS_DISKS.test(`${programOf(command)} ${lineOf(command)}`),
  },
  { rule: 'disk_destruction', deny: 'formats a disk', programs: 'format', argument: /^[a-zA-Z]:/ },
  {
    rule: 'disk_destruction',
    deny: 'copies from or to a device',
    programs: 'dd dcfldd',
    argument: /^(?:of|if)=\/+dev\//,
  },
  { rule: 'disk_destruction', deny: 'writes to a disk', written: BLOCK_DEVICE },
  {
    rule: 'system_control',
    deny: 'stops or restarts the machine',
    programs: 'shutdown reboot halt poweroff telinit kexec',
  },
  { rule: 'system_control', deny: 'stops or restarts the machine', programs: 'init', subcommand: /^[06]\b/ },
  {
    rule: 'system_control',
    deny: 'stops or restarts the machine',
    programs: 'systemctl loginctl',
    argument:
      /^(?:poweroff|reboot|halt|kexec|soft-reboot|suspend|hibernate|hybrid-sleep|emergency|rescue|isolate)$/,
  },
  {
    rule: 'system_control',
    deny: 'talks to the kernel',
    path: /^\/proc\/sys(?:rq-trigger|\/(?!(?:kernel|fs|net)\/))/,
    written: /^\/proc\//,
  },
  {
    rule: 'destructive_sql',
    confirm: 'drops or empties tables',
    programs:
      /^(?:psql|mysql|mariadb|sqlite3?|mongosh?|cockroach|clickhouse-client|duckdb|redis-cli|sqlcmd)$/,
    line: /\b(?:drop\s+(?:table|database|schema|user|role|index|view)|truncate\s|delete\s+from|flushall|flushdb|dropDatabase)/i,
  },
]);
