/** Harmless programs with an option that starts another program or writes a file (GoClaw #1206). */
import { argumentsOf } from '../shell-command.ts';
import type { Category } from './rule.ts';

export const filterBypass: Category = {
  category: 'filter_bypass',
  rules: [
    {
      rule: 'filter_bypass',
      reason: 'starts a program for sorting',
      programs: ['sort', 'gsort'],
      names: ['compress-program'],
    },
    {
      rule: 'filter_bypass',
      reason: 'changes or writes what the shell remembers of commands',
      programs: ['history'],
      letters: 'sawnrcd',
    },
    {
      rule: 'filter_bypass',
      reason: 'starts a program from sed',
      programs: ['sed', 'gsed'],
      argument: /(?:^|[;{}\n]|\d|\$|\/)\s*e(?:\s|$)|s([/|,#@!])(?:(?!\1).)*\1(?:(?!\1).)*\1[gpiImM\d]*e/,
    },
    {
      rule: 'filter_bypass',
      reason: 'writes files from sed',
      severity: 'confirm',
      programs: ['sed', 'gsed'],
      argument: /(?:^|[;{}\n]|\d|\$|\/)\s*[wW]\s|s([/|,#@!])(?:(?!\1).)*\1(?:(?!\1).)*\1[gpiImM\d]*w/,
    },
    {
      rule: 'filter_bypass',
      reason: 'starts a program for reading manuals',
      programs: ['man'],
      letters: 'HP',
      names: ['html', 'pager', 'browser', 'gxditview'],
    },
    {
      rule: 'filter_bypass',
      reason: 'starts a program that git is told',
      programs: ['git'],
      names: [
        'upload-pack',
        'receive-pack',
        'exec',
        'ext-diff',
        'extcmd',
        'open-files-in-pager',
        'tool-help',
      ],
    },
    {
      rule: 'filter_bypass',
      reason: 'starts a program that git is told',
      programs: ['git'],
      argument: /^(?:ext::|-c$|-c\w|--config-env|--exec-path=)/,
      severity: 'confirm',
      when: (command) =>
        /^(?:-c|--config-env|--exec-path)/.test(argumentsOf(command)[0]?.value ?? '') ||
        argumentsOf(command).some((word) => word.value.startsWith('ext::')),
    },
    {
      rule: 'filter_bypass',
      reason: 'starts a program from git',
      severity: 'confirm',
      programs: ['git'],
      subcommand: /^(?:bisect run|submodule foreach|difftool|mergetool|filter-branch|rebase)\b/,
      line: /run|foreach|tool|filter|--exec|-x\b/,
    },
    {
      rule: 'filter_bypass',
      reason: 'starts a program from tar',
      programs: ['tar', 'gtar', 'bsdtar'],
      names: [
        'to-command',
        'checkpoint-action',
        'use-compress-program',
        'rsh-command',
        'new-volume-script',
        'info-script',
      ],
    },
    {
      rule: 'filter_bypass',
      reason: 'starts a program from zip',
      programs: ['zip', 'unzip', 'rsync'],
      argument: /^(?:-TT.*|--unzip-command.*|--rsh=.*|--rsync-path=.*)$/,
    },
    {
      rule: 'filter_bypass',
      reason: 'starts a program while searching',
      programs: ['rg'],
      names: ['pre', 'hostname-bin'],
    },
    {
      rule: 'filter_bypass',
      reason: 'starts a program from awk',
      severity: 'confirm',
      programs: /^[gmn]?awk$/,
      argument: /\bsystem\s*\(|\|\s*&?\s*getline|getline\s*<|\|&|(?:print|printf)\b[^;}]*\|\s*"/,
    },
    {
      rule: 'filter_bypass',
      reason: 'starts a program from an editor',
      programs: ['vi', 'vim', 'nvim', 'view', 'ex', 'ed', 'emacs', 'nano', 'less', 'more', 'most'],
      argument: /(?:^|[:+\s])!|system\(|shell-command|--eval|-c\s*:?py|:terminal/,
    },
    {
      rule: 'filter_bypass',
      reason: 'starts a program when it connects',
      programs: ['ssh', 'scp', 'sftp'],
      argument: /proxycommand|localcommand|knownhostscommand|permitlocalcommand/i,
    },
    {
      rule: 'filter_bypass',
      reason: 'reads its rules from its input',
      severity: 'confirm',
      programs: ['make', 'gmake', 'just', 'ninja'],
      line: /(?:^|\s)(?:-f\s*-|--(?:make)?file[= ]-|--eval|SHELL=|-f\s*\/dev)/,
    },
    {
      rule: 'filter_bypass',
      reason: 'starts a program from gdb',
      severity: 'confirm',
      programs: ['gdb', 'lldb'],
      argument: /^-(?:ex|x|o|batch)$|!|shell/,
    },
  ],
};
