/** Eval injection: a shell or interpreter runs text that nobody has seen. */
import { argumentsOf, programOf, type ShellCommand } from '../shell-command.ts';
import { INTERPRETERS, SHELLS } from '../parse/wrappers.ts';
import { runsDownload } from './data-exfiltration.ts';
import { categoryOf } from './rule.ts';

const DECODERS = /^(?:base(?:64|32|16|nc)|xxd|uudecode|openssl|gunzip|zcat|bzcat|xzcat|gzip|rev|gpg)$/;

const isShell = (command: ShellCommand): boolean => SHELLS.has(programOf(command));
const isInterpreter = (command: ShellCommand): boolean =>
  isShell(command) || INTERPRETERS.test(programOf(command));
const isSourcing = (command: ShellCommand): boolean => ['source', '.'].includes(programOf(command));
/** A path whose last part is a name of standard input, whatever the folder is. */
const STREAM = /(?:^|\/)(?:stdin|tty\w*|fd|\d+)\/*$/;
const decodes = (commands: readonly ShellCommand[]): boolean =>
  commands.some((each) => DECODERS.test(programOf(each)));

/** It reads its program from its input: no operand except `-`. */
const readsProgram = (command: ShellCommand): boolean =>
  isInterpreter(command) &&
  argumentsOf(command).every((word) => /^(?:-|-[a-zA-Z]*|--\w[\w-]*|\+\w+)$/.test(word.value)) &&
  !argumentsOf(command).some((word) => /^(?:-[vhV]|--version|--help)$/.test(word.value));

export const codeInjection = categoryOf('code_injection', [
  {
    rule: 'eval_injection',
    deny: 'evaluates text that is not known',
    programs: 'eval',
    when: (command) => argumentsOf(command).some((word) => !word.isLiteral),
  },
  {
    rule: 'eval_injection',
    deny: 'runs decoded text',
    when: (command) =>
      (isInterpreter(command) || isSourcing(command)) &&
      command.input?.kind === 'pipe' &&
      decodes(command.input.from),
  },
  {
    rule: 'eval_injection',
    deny: 'runs decoded text',
    when: (command) =>
      (isInterpreter(command) || ['eval', 'source', '.', 'xargs'].includes(programOf(command))) &&
      argumentsOf(command).some((word) => decodes(word.sources)),
  },
  {
    rule: 'eval_injection',
    deny: 'runs decoded code',
    programs: INTERPRETERS,
    code: /b64decode|fromhex|unhexlify|atob\(|["']base64["']|decode_base64|Base64|base64_decode|EncodedCommand/,
    line: /exec|eval|system|-e|-c|-Enc/i,
  },
  {
    rule: 'eval_injection',
    deny: 'hides its code',
    programs: 'pwsh powershell',
    argument: /^[-/]e(?:n\w*|c)?$/i,
  },
  {
    rule: 'piped_script',
    confirm: 'runs a program that it reads',
    when: (command) =>
      readsProgram(command) &&
      command.input !== null &&
      command.input.kind !== 'text' &&
      !runsDownload(command),
  },
  {
    rule: 'piped_script',
    confirm: 'runs a program that it reads',
    when: (command) =>
      (isInterpreter(command) || isSourcing(command)) &&
      !runsDownload(command) &&
      argumentsOf(command).some((word) => word.text.startsWith('<(') || /^\/(?:dev|proc)\//.test(word.value)),
  },
  {
    rule: 'sourced_script',
    confirm: 'runs a file of unknown name or content in the shell itself',
    when: (command) =>
      isSourcing(command) &&
      !runsDownload(command) &&
      (command.input !== null ||
        argumentsOf(command).some((word) => !word.isLiteral || STREAM.test(word.value))),
  },
  {
    rule: 'code_argument',
    confirm: 'runs code of unknown text',
    when: (command) =>
      isInterpreter(command) &&
      !runsDownload(command) &&
      argumentsOf(command).some((word) => word.sources.length > 0),
  },
]);
