/**
 * Named secrets whose name and value are not joined by `=` or `:`: options of commands, XML, lists of name and value,
 * cookies, percent-encoded forms, and sentences. Each pattern starts at a literal and reads a bounded distance.
 */
import { hasAny, type Needed, neededText } from './needed-text.ts';
import { type Value, valueAt } from './read-value.ts';
import type { Redaction } from './redaction.ts';
import { secretNameOf } from './secret-names.ts';
import { secretParts } from './secret-parts.ts';

interface NamedForm {
  readonly needs: readonly Needed[];
  /** Group 1 is the name, group 2 an opening quote, and the value starts where the match ends. */
  readonly pattern: RegExp;
  /** A value may consist of letters only; the other patterns also occur in prose. */
  readonly isCode?: true;
  /** Where the value ends, when quotes and blanks do not determine it. */
  readonly value?: RegExp;
}

const FORMS: readonly NamedForm[] = [
  // --password VALUE, -token "VALUE"
  {
    needs: [' -', '\n-', '"-', "'-", '--'].map(neededText),
    pattern: /(?<![\w-])--?([A-Za-z][\w-]{2,40})[ \t]{1,3}(["'])?(?!-)/g,
  },
  // ENV NAME VALUE, set -x NAME VALUE, aws configure set NAME VALUE, redis' requirepass VALUE
  {
    needs: ['ENV ', 'ARG ', 'set ', 'setx ', 'setenv ', 'requirepass', 'masterauth'].map(neededText),
    pattern:
      /(?<![\w-])(?:(?:ENV|ARG|set|setx|setenv)[ \t]{1,4}(?:-[a-zA-Z]{1,4}[ \t]{1,4}){0,2}(?=[\w.-]{3,64}[ \t])([\w.-]{3,64})|(?=requirepass|masterauth)(\w+))[ \t]{1,4}(?![=:])/g,
  },
  // define('DB_PASSWORD', 'VALUE'), setenv("API_TOKEN", "VALUE")
  {
    needs: ['define(', 'setenv(', 'putenv(', 'set('].map(neededText),
    pattern: /(?<![\w-])(?:define|setenv|putenv|set)\(\s{0,3}["']([\w.-]{2,64})["']\s{0,3},\s{0,3}(["'])/g,
  },
  // <Password value="VALUE"/>
  {
    needs: ['alue='].map(neededText),
    pattern: /<(?:\w{1,32}:)?([A-Za-z_][\w.-]{1,60})\s{1,4}value=(["'])/gi,
  },
  // <password>VALUE</password>
  {
    needs: ['</'].map(neededText),
    pattern: /<(?:\w{1,32}:)?([A-Za-z_][\w.-]{1,60})(?:\s[^<>]{0,200})?>(?!<)/g,
    value: /[^<>\n]{4,4096}(?=<\/)/y,
  },
  // name: DB_PASSWORD, value: VALUE (JSON, YAML, XML attributes)
  {
    needs: ['alue'].map(neededText),
    pattern:
      /(?<![\w-])(?:name|key|id|variable)["']?\s{0,3}[:=]\s{0,3}["']?([\w.-]{2,64})["']?[\s,;]{1,20}["']?value["']?\s{0,3}[:=]\s{0,3}(["'])?/gi,
  },
  // <key>Password</key><string>VALUE</string>
  {
    needs: ['<key>'].map(neededText),
    pattern: /<key>([\w .-]{2,64})<\/key>\s{0,20}<string>/g,
    value: /[^<>\n]{4,4096}(?=<\/)/y,
  },
  // password%3DVALUE, token%22%3A%22VALUE
  {
    needs: ['%3'].map(neededText),
    pattern: /(?<![A-Za-z0-9])([A-Za-z_][A-Za-z0-9_.-]{2,40})(?:%22)?%3[aAdD](?:%2[02]|\+)?/g,
    isCode: true,
    value: /(?:[^\s%&"'<>\\]|%(?!2[026])[0-9A-Fa-f]{2}){4,4096}/y,
  },
  // setPassword("VALUE"), .password("VALUE")
  {
    needs: ['("', "('"].map(neededText),
    pattern:
      /(?<!\w)((?:set|with)[A-Z]\w{2,40}|password|passwd|passphrase|api_?[kK]ey|(?:access|secret|private)_?[kK]ey|(?:client|app)_?[sS]ecret|(?:access|auth|bearer)_?[tT]oken)\((["'])/g,
  },
  // ["password", "VALUE"], unless that is a list of names
  {
    needs: [`",`, `',`].map(neededText),
    pattern:
      /["']-{0,2}([A-Za-z][\w-]{2,40})["'],\s{0,8}(["'])(?=[^\s"']{0,64}\d)(?![^\s"']{0,64}(?:pass|token|secret|key|auth|cred))/gi,
  },
  // | password | VALUE |, and rows of psql and Vault: password  VALUE
  {
    needs: [' |', '  ', '\t'].map(neededText),
    pattern:
      /(?:^|\n|\|)[ \t]{0,16}(?:\*\*|`)?([A-Za-z][\w.-]{1,40})(?:\*\*|`)?(?:[ \t]{1,40}\|[ \t]{1,40}(`)?|(?:[ ]{2,40}|\t)(?=\S{8,512}[ \t]{0,40}(?:\r?\n|$)))(?=\S{0,64}\d)(?=\S{0,64}[A-Za-z])/g,
  },
  // storePassword 'VALUE' on a line of its own, as in Gradle
  {
    needs: [' "', " '"].map(neededText),
    pattern:
      /(?:^|\n)[ \t]{0,32}([A-Za-z]\w{2,40})[ \t]{1,4}(["'])(?=[^"'\n]{4,512}["'][ \t]{0,8}(?:\r?\n|$))/g,
  },
  // use password "VALUE"
  {
    needs: ['use ', 'using ', 'with '].map(neededText),
    pattern:
      /(?<!\w)(?:use|using|with) (?:the )?(password|passphrase|passcode|token|api[_ -]key|secret) (["'`])/gi,
  },
  // password for NAME: VALUE
  {
    needs: [' for ', ' of '].map(neededText),
    pattern:
      /(?<![\w-])((?:api |access |secret )?(?:password|passphrase|passcode|token|secret|key)) (?:for|of) (?:the )?(?:user )?["'`]?[\w.@-]{1,64}["'`]?: {1,3}(["'`])?/gi,
  },
  // name="password", an empty line, VALUE: a part of a form
  {
    needs: ['form-data'].map(neededText),
    pattern: /form-data;[ ]?name="([\w.-]{2,64})"\r?\n(?:[\w-]{1,64}:[^\r\n]{0,200}\r?\n){0,3}\r?\n/gi,
    value: /[^\r\n]{4,4096}/y,
  },
  // <input type="password" value="VALUE">
  {
    needs: ['<input', '<INPUT'].map(neededText),
    pattern: /<input\s[^<>]{0,300}?type=["']?(password)["']?[^<>]{0,300}?\svalue=(["'])/gi,
  },
  // password = [[VALUE]], as in Lua
  {
    needs: ['[['].map(neededText),
    pattern: /(?<![\w.-])([A-Za-z_]\w{2,40})\s{0,4}=\s{0,4}\[\[/g,
    value: /[^\]\n]{4,256}(?=\]\])/y,
  },
  // The API key is VALUE, password for NAME changed to VALUE
  {
    needs: [' is', ' was', ' to'].map(neededText),
    pattern:
      /(?<![\w-])((?:api |access |secret )?(?:password|passphrase|passcode|token|secret|key))(?: (?:for|of) [\w.@-]{1,64})?(?: (?:provided|changed|set|reset))? (?:is|was|to)(?: now)?:? {1,3}(["'`])?/gi,
  },
];

/** Called after `readText` of the same text. */
export function findNamedValues(text: string, out: Redaction[]): void {
  for (const form of FORMS) {
    if (!hasAny(form.needs)) continue;
    form.pattern.lastIndex = 0;
    for (let match = form.pattern.exec(text); match; match = form.pattern.exec(text)) {
      const name = secretNameOf(match[1] ?? match[2] ?? '');
      if (!name) continue;
      const value = valueOf(text, form, match);
      if (!value) continue;
      const raw = text.slice(value.start, value.end);
      if (!form.isCode && !/\d/.test(raw) && raw.length < 16) continue;
      for (const { start, end } of secretParts(raw, name, { ...value, wholeLine: false }))
        out.push({ start: value.start + start, end: value.start + end, kind: 'named_secret' });
    }
  }
  findCookies(text, out);
}

function valueOf(text: string, form: NamedForm, match: RegExpExecArray): Value | undefined {
  const start = match.index + match[0].length;
  if (!form.value) {
    const quote = /["'`]$/.exec(match[0])?.[0];
    return valueAt(text, start, quote, true);
  }
  form.value.lastIndex = start;
  const found = form.value.exec(text)?.[0];
  return found === undefined
    ? undefined
    : { start, end: start + found.length, quoted: true, spaced: false, scheme: false };
}

const OF_COOKIES = ['ookie', 'OOKIE'].map(neededText);
const COOKIES = /(?<![\w-])(?:set-)?cookie["']?[ \t]{0,2}:[ \t]{0,2}["']?(?=[^\r\n"'])/gi;
const LINE = /[^\r\n"']{1,4096}/y;
/** A cookie's value that is random enough to be a session's. */
const COOKIE = /(?<==)(?=[\w%.+/~-]{0,64}\d)(?=[\w%.+/~-]{0,64}[A-Za-z])[\w%.+/=~-]{16,4096}/g;

function findCookies(text: string, out: Redaction[]): void {
  if (!hasAny(OF_COOKIES)) return;
  COOKIES.lastIndex = 0;
  for (let match = COOKIES.exec(text); match; match = COOKIES.exec(text)) {
    const start = match.index + match[0].length;
    LINE.lastIndex = start;
    const line = LINE.exec(text)?.[0] ?? '';
    for (const cookie of line.matchAll(COOKIE))
      out.push({
        start: start + cookie.index,
        end: start + cookie.index + cookie[0].length,
        kind: 'cookie',
      });
    COOKIES.lastIndex = start + line.length;
  }
}
