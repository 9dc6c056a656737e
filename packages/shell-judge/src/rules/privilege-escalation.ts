/** Becoming another user, or getting more rights. */
import { categoryOf } from './rule.ts';

export const privilegeEscalation = categoryOf('privilege_escalation', [
  {
    deny: 'becomes another user',
    programs:
      'sudo sudoedit su doas pkexec runuser gosu su-exec sg newgrp runas gsudo dzdo calife machinectl run0',
  },
  {
    deny: 'enters another namespace or root',
    programs: 'unshare nsenter chroot setpriv capsh bwrap newuidmap',
  },
  {
    deny: 'mounts a file system',
    programs: 'mount umount',
    when: (command) => command.words.length > 1,
  },
  {
    deny: 'changes accounts',
    programs:
      'useradd usermod userdel adduser deluser groupadd groupmod gpasswd passwd chpasswd visudo vipw chsh',
  },
  { deny: 'gives a program more rights', programs: 'setcap' },
  { deny: 'looks for programs with more rights', programs: 'getcap' },
  {
    deny: 'makes a program run as its owner',
    programs: 'chmod',
    argument: /^(?:[ugoa]*[+=][rwx]*s|0?[2-7]\d{3}$)/,
  },
]);
