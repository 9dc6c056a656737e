/** Writing to system folders, and creating programs in folders that everybody may write to. */
import { categoryOf } from './rule.ts';

/** Without those that have a category of their own: the loader's list of code, and the kernel's settings. */
const SYSTEM =
  /^\/(?!etc\/ld\.so\.preload$|proc\/sys\/(?:kernel|fs|net)\/)(?:$|\*|(?:etc|usr|bin|sbin|lib\w*|boot|sys|proc|root|opt|var\/(?:spool|lib|run)|run)(?:\/|$|\*))/;
const SHARED = /^\/(?:tmp|var\/tmp|dev\/shm)(?:\/|$)/;

export const dangerousPaths = categoryOf('dangerous_paths', [
  {
    deny: 'changes who may use the system’s files',
    programs: 'chmod chown chgrp chattr setfacl',
    path: SYSTEM,
  },
  {
    deny: 'makes a program in a shared folder',
    programs: 'chmod',
    path: SHARED,
    argument: /^(?:[ugoa]*[+=][rwst]*x|0?[0-7]*[1357][0-7]{0,2}$)/,
  },
  {
    confirm: 'gives everybody all rights',
    programs: 'chmod',
    argument: /^(?:0?[0-7]{2}[67]$|a\+[rx]*w|o\+[rx]*w)/,
  },
  { deny: 'writes to the system’s files', written: SYSTEM },
  {
    deny: 'links to the system’s files',
    programs: 'ln link',
    path: /^\/(?:etc|root|proc|sys|dev|boot|var|run)(?:\/|$)/,
  },
]);
