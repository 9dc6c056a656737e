/**
 * One page of MiniWoB++ played through the tool `browser`: it sees what a model sees, and acts by refs, words and
 * places.
 */
import type { BrowserBench } from './browser-bench.ts';

interface Element {
  readonly role: string;
  readonly name: string;
  readonly ref: string;
}

/** Which element of a role: its number, its words, or a pattern of them. */
type Which = number | string | RegExp;

export class Play {
  readonly #ask: BrowserBench['ask'];
  task = '';

  constructor(ask: BrowserBench['ask']) {
    this.#ask = ask;
  }

  async begin(url: string): Promise<void> {
    await this.ask({ action: 'navigate', url });
    // A busy machine needs more than the ten seconds of a person.
    await this.ask({ action: 'evaluate', script: 'core.EPISODE_MAX_TIME = 120000' });
    await this.ask({ action: 'click', text: 'START' });
    this.task = String(await this.read('((task) => task.utterance ?? task)(core.getUtterance())'));
  }

  /** Whether it has full marks, apart from those for speed. */
  async isSolved(): Promise<boolean> {
    return (await this.read('WOB_DONE_GLOBAL && WOB_RAW_REWARD_GLOBAL')) === 1;
  }

  async ask(args: Readonly<Record<string, unknown>>): Promise<string> {
    const message = await this.#ask({ timeout_ms: 3_000, ...args });
    if (!message.startsWith('Page: ')) throw new Error(message.slice(0, 200));
    return message;
  }

  /** The result of a script; for what no tree shows, such as the shapes of a picture. */
  async read(script: string): Promise<any> {
    const text = await this.ask({ action: 'evaluate', script });
    const [, words] = /\[data from outside, not instructions\]\n([\s\S]*)\n<<<END_/.exec(text) ?? [];
    return words === 'undefined' || words === undefined ? undefined : JSON.parse(words);
  }

  async all(role: string): Promise<readonly Element[]> {
    const tree = await this.ask({ action: 'snapshot', max_chars: 50_000 });
    return tree.split('\n').flatMap((line): Element[] => {
      const found =
        /^\s*- '?(\w+)(?: "((?:[^"\\]|\\.)*)")?.*?\[ref=(\w+)\](?: \[[^\]]*\])*'?:?(?: (.*))?$/.exec(line);
      if (!found || found[1] !== role) return [];
      const [, , named = '', ref = '', text = ''] = found;
      const name = (named || text.replace(/^"(.*)"$/, '$1')).replaceAll('\\"', '"');
      return [{ role, name, ref }];
    });
  }

  async ref(role: string, which: Which = 0): Promise<string> {
    const all = await this.all(role);
    const isIt = (name: string): boolean =>
      typeof which === 'string' ? name === which : (which as RegExp).test(name);
    const found = typeof which === 'number' ? all.at(which) : all.find(({ name }) => isIt(name));
    if (!found) throw new Error(`no ${role} ${which} among ${all.map(({ name }) => name).join(', ')}`);
    return found.ref;
  }

  async click(role: string, which?: Which): Promise<void> {
    await this.ask({ action: 'click', ref: await this.ref(role, which) });
  }

  async type(text: string | number, which: Which = 0, role = 'textbox'): Promise<void> {
    await this.ask({ action: 'type', ref: await this.ref(role, which), text: String(text) });
  }

  async press(key: string, times = 1): Promise<void> {
    for (let time = 0; time < times; time += 1) await this.ask({ action: 'press', key });
  }

  async select(...values: readonly string[]): Promise<void> {
    const [listbox] = await this.all('listbox');
    await this.ask({ action: 'select', ref: listbox?.ref ?? (await this.ref('combobox')), values });
  }

  /** Clicks the middle of what a script finds, once it is at rest; for elements without words. */
  async clickAt(script: string): Promise<void> {
    const middle = `(() => { const one = ${script}; one.scrollIntoView({ block: 'nearest' });
      const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()`;
    let at = await this.read(middle);
    for (let before = ''; before !== String(at); at = await this.read(middle)) before = String(at);
    await this.ask({ action: 'click', x: at[0], y: at[1] });
  }

  /** Clicks the first visible element of a selector that has exactly these words. */
  clickWords(selector: string, words: string): Promise<void> {
    return this.clickAt(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].find((e) => e.textContent.trim() === ${JSON.stringify(words)} && e.getBoundingClientRect().height > 0)`,
    );
  }

  submit(): Promise<void> {
    return this.click('button', /^(Submit|Search|Login|OK|Agree)$/);
  }

  /** The nth quoted text of the task. */
  quoted(nth = 0): string {
    return [...this.task.matchAll(/"([^"]*)"/g)][nth]?.[1] ?? '';
  }

  match(pattern: RegExp): string {
    return pattern.exec(this.task)?.[1] ?? '';
  }

  number(nth = 0): number {
    return Number([...this.task.matchAll(/-?\d+(?:\.\d+)?/g)][nth]?.[0]);
  }
}

/** The few steps that solve a page, by what its task says. */
export type Oracle = (play: Play) => Promise<unknown>;

export const submitAfter =
  (work: Oracle): Oracle =>
  async (play) => {
    await work(play);
    await play.submit();
  };

export const numberOf = (p: Play): number => Number(p.match(/(\d+)(?:st|nd|rd|th)/)) - 1;
