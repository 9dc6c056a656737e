/** MiniWoB++: pages that are solved by clicks. */
import { type Oracle, numberOf, submitAfter } from './miniwob-play.ts';

const listed = (text: string): string[] => text.split(/, | and /);

const clickQuoted: Oracle = (p) => p.click('button', p.quoted());

const clickOne: Oracle = (p) => p.click('button', 'ONE');

const checkboxes = submitAfter(async (p) => {
  const expected = p.match(/Select (.*) and click/);
  if (expected !== 'nothing') for (const name of listed(expected)) await p.click('checkbox', name);
});

const tabs: Oracle = async (p) => {
  const word = JSON.stringify(p.quoted());
  const seen = `[...document.querySelectorAll('.alink')].some((e) => e.innerHTML === ${word} && e.getBoundingClientRect().height > 0)`;
  for (const { ref } of await p.all('link')) {
    await p.ask({ action: 'click', ref });
    if (await p.read(seen)) return p.clickWords('.alink', p.quoted());
  }
};

const sections: Oracle = async (p) => {
  const seen = `[...document.querySelectorAll('.alink')].some((e) => e.innerHTML === ${JSON.stringify(p.quoted())} && e.getBoundingClientRect().height > 0)`;
  for (const { ref } of await p.all('tab')) {
    await p.ask({ action: 'click', ref });
    await p.ask({ action: 'wait', seconds: 0.5 });
    if (await p.read(seen)) return p.clickWords('.alink', p.quoted());
  }
};

const section = submitAfter(async (p) => {
  await p.click('tab', /Section/);
  await p.ask({ action: 'wait', seconds: 0.5 });
});

const date = submitAfter(async (p) => {
  const [month = 0, day = 0] = p
    .match(/(\d+\/\d+)\//)
    .split('/')
    .map(Number);
  await p.click('textbox');
  for (let shown = 0; ; ) {
    shown = await p.read(
      "new Date(document.querySelector('.ui-datepicker-month').textContent + ' 1 2016').getMonth() + 1",
    );
    if (shown === month) break;
    await p.clickAt(
      `document.querySelector('${shown > month ? '.ui-datepicker-prev' : '.ui-datepicker-next'}')`,
    );
  }
  await p.clickWords('.ui-datepicker-calendar a', String(day));
});

const pie: Oracle = async (p) => {
  const middle = (words: string): string =>
    `[...document.querySelectorAll('#area text, #area tspan')].find((e) => e.textContent === ${JSON.stringify(words)})`;
  await p.clickAt(middle('+'));
  await p.ask({ action: 'wait', seconds: 1.5 });
  await p.clickAt(middle(p.quoted()));
};

export const CLICK_ORACLES: Readonly<Record<string, Oracle>> = {
  async 'ascending-numbers'(p) {
    // After the first, the others no longer show a number.
    const places = (await p.read(
      `[...document.querySelectorAll('#area text')].sort((a, b) => a.textContent - b.textContent)
        .map((e) => e.getBoundingClientRect()).map((box) => [box.x + box.width / 2, box.y + box.height / 2])`,
    )) as [number, number][];
    for (const [x, y] of places) await p.ask({ action: 'click', x, y });
  },
  async 'button-delay'(p) {
    await p.click('button', 'ONE');
    await p.ask({ action: 'wait', seconds: p.number() - 0.3 });
    await p.click('button', 'TWO');
  },
  async 'buy-ticket'(p) {
    const isPrice = /cheapest|price/.test(p.task);
    const buttons = await p.all('button');
    const spans = (await p.all('generic'))
      .map(({ name }) => /^(\d+)h (\d+)m$/.exec(name))
      .filter((found) => found !== null);
    const costs = isPrice
      ? buttons.map(({ name }) => Number(name.replace(/\D/g, '')))
      : spans.map(([, h, m]) => Number(h) * 60 + Number(m));
    await p.ask({ action: 'click', ref: buttons[costs.indexOf(Math.min(...costs))]?.ref });
  },
  'choose-date': date,
  'choose-date-easy': date,
  'choose-date-medium': date,
  'choose-date-nodelay': date,
  'choose-list': submitAfter((p) => p.select(p.match(/Select (.*) from the list/))),
  async 'click-button-sequence'(p) {
    await p.click('button', 'ONE');
    await p.click('button', 'TWO');
  },
  'click-button': clickQuoted,
  'click-checkboxes': checkboxes,
  'click-checkboxes-large': checkboxes,
  'click-checkboxes-transfer': checkboxes,
  'click-collapsible': section,
  'click-collapsible-nodelay': section,
  'click-collapsible-2': sections,
  'click-collapsible-2-nodelay': sections,
  'click-dialog': (p) => p.click('button', 'Close'),
  'click-dialog-2': (p) => p.click('button', p.quoted() === 'x' ? 'Close' : p.quoted()),
  'click-link': (p) => p.clickWords('.alink', p.quoted()),
  async 'click-menu'(p) {
    const path = p.match(/Select (.*)/).split('>');
    for (const name of path.slice(0, -1)) {
      await p.ask({ action: 'hover', ref: await p.ref('menuitem', name) });
      await p.ask({ action: 'wait', seconds: 1 });
    }
    await p.click('menuitem', path.at(-1));
  },
  async 'click-menu-2'(p) {
    await p.click('button', 'Menu');
    const icon = await p.read("document.querySelector('#query .ui-icon')?.className.split(' ')[1] ?? null");
    const item = icon
      ? String(await p.read(`document.querySelector('#menu .${icon}').parentElement.textContent.trim()`))
      : p.quoted();
    const inner: Record<string, string> = {
      Prev: 'Playback',
      Stop: 'Playback',
      Play: 'Playback',
      Next: 'Playback',
      'Zoom In': 'Zoom',
      'Zoom Out': 'Zoom',
    };
    if (inner[item]) {
      await p.ask({ action: 'hover', ref: await p.ref('menuitem', inner[item]) });
      await p.ask({ action: 'wait', seconds: 1 });
    }
    await p.click('menuitem', item);
  },
  'click-option': submitAfter((p) => p.click('radio', p.match(/Select (.*) and click/))),
  'click-pie': pie,
  'click-pie-nodelay': pie,
  'click-scroll-list': submitAfter((p) => p.select(...listed(p.match(/Select (.*) from the scroll/)))),
  'click-tab': (p) => p.click('link', p.match(/(Tab #\d)/)),
  'click-tab-2': tabs,
  'click-tab-2-easy': tabs,
  'click-tab-2-medium': tabs,
  'click-tab-2-hard': tabs,
  'click-test': (p) => p.click('button'),
  'click-test-2': clickOne,
  'click-test-transfer': clickOne,
  'click-widget': (p) =>
    p.clickAt(
      `document.querySelector('#area ${{ text: 'input[type=text]', radio: 'input[type=radio]', checkbox: 'input[type=checkbox]' }[p.quoted()] ?? p.quoted()}')`,
    ),
  'copy-paste': submitAfter(async (p) =>
    p.type(String(await p.read("document.querySelector('#area textarea').value")), -1),
  ),
  'copy-paste-2': submitAfter(async (p) =>
    p.type(String(await p.read(`document.querySelectorAll('#area textarea')[${numberOf(p)}].value`)), -1),
  ),
};
