/** MiniWoB++: pages that are read and filled in. */
import { numberOf, type Oracle, type Play, submitAfter } from './miniwob-play.ts';

const slide = async (p: Play, nth: number, by: number): Promise<void> => {
  // This is the middle of the handle, so the slider stays where it is.
  await p.clickAt(`document.querySelectorAll('.ui-slider-handle')[${nth}]`);
  await p.press(by < 0 ? 'ArrowLeft' : 'ArrowRight', Math.abs(by));
};

const mail: Oracle = async (p) => {
  const senders = (await p.read(
    "[...document.querySelectorAll('.email-sender')].map((e) => e.textContent)",
  )) as string[];
  const to = p.match(/(?:to|give it to|with|for) ([A-Z][a-z]+)/);
  const named = senders.filter((name) => p.task.includes(name));
  const from = named.find((name) => name !== to) ?? named[0] ?? '';
  const row = `[...document.querySelectorAll('.email-thread, #main .email-thread')].find((e) => e.querySelector('.email-sender').textContent === ${JSON.stringify(from)})`;
  if (/trash|delete/i.test(p.task)) return p.clickAt(`${row}.querySelector('.trash')`);
  if (/star icon|important/.test(p.task)) return p.clickAt(`${row}.querySelector('.star')`);
  await p.clickAt(`${row}.querySelector('.email-subject')`);
  const isReply = /reply|respond|answer/i.test(p.task) && p.quoted() !== '';
  await p.clickAt(`document.querySelector('#email .${isReply ? 'email-reply' : 'email-forward'}')`);
  if (isReply) await p.type(p.quoted());
  else await p.type(to);
  await p.clickAt(`document.querySelector('#${isReply ? 'send-reply' : 'send-forward'}')`);
};

const login: Oracle = async (p) => {
  await p.type(p.quoted(0), 0);
  await p.type(p.quoted(1), 1);
  await p.submit();
};

const textField = submitAfter((p) => p.type(p.quoted()));

const movies: Oracle = async (p) => {
  const [, genre = '', director = '', year = ''] =
    /for (\S+) movies directed by (\S+) from year (\d+)/.exec(p.task) ?? [];
  const labelOf = 'function labelOf(e) { return e.textContent.trim() || labelOf(e.parentElement); }';
  const labels = (await p.read(
    `(() => { ${labelOf} return [...document.querySelectorAll('#area input')].map(labelOf); })()`,
  )) as string[];
  for (const [nth, label] of labels.entries())
    await p.type(/genre/i.test(label) ? genre : /year|date/i.test(label) ? year : director, nth);
  await p.clickAt(
    "[...document.querySelectorAll('#area *')].findLast((e) => /^(Search|Submit|Go!)$/.test(e.textContent.trim()) && !e.children.length)",
  );
};

const autocomplete = submitAfter(async (p) => {
  const [start, end] = [p.match(/starts with "([^"]*)"/), p.match(/ends with "([^"]*)"/)];
  await p.ask({ action: 'type', ref: await p.ref('textbox'), text: start, slowly: true });
  await p.ask({ action: 'wait', seconds: 1 });
  const items = (await p.read(
    "[...document.querySelectorAll('.ui-menu-item')].map((e) => e.textContent)",
  )) as string[];
  const item = items.find((one) => one.startsWith(start) && one.endsWith(end));
  await p.clickWords('.ui-menu-item', item ?? '');
});

const posts = submitAfter(async (p) => {
  const user = p.match(/(@\w+)/);
  const kind = { Like: 'like', Share: 'share', Reply: 'reply', Retweet: 'retweet' }[p.quoted()] ?? '';
  const found = `[...document.querySelectorAll('.media')].filter((e) => e.querySelector('.username').textContent === '${user}')`;
  const all = Number(await p.read(`${found}.length`));
  const expected = /on all posts/.test(p.task) ? all : p.number();
  for (let nth = 0; nth < expected; nth += 1) await p.clickAt(`${found}[${nth}].querySelector('.${kind}')`);
});

export const FORM_ORACLES: Readonly<Record<string, Oracle>> = {
  'email-inbox': mail,
  'email-inbox-delete': mail,
  'email-inbox-forward': mail,
  'email-inbox-forward-nl': mail,
  'email-inbox-forward-nl-turk': mail,
  'email-inbox-important': mail,
  'email-inbox-nl-turk': mail,
  'email-inbox-noscroll': mail,
  'email-inbox-reply': mail,
  'email-inbox-star-reply': mail,
  'enter-date': submitAfter((p) => {
    const [month, day, year] = p.match(/(\d+\/\d+\/\d+)/).split('/');
    return p.type(`${year}-${month}-${day}`);
  }),
  'enter-password': submitAfter(async (p) => {
    await p.type(p.quoted(), 0);
    await p.type(p.quoted(), 1);
  }),
  'enter-text': textField,
  'enter-text-dynamic': textField,
  'enter-text-2': submitAfter((p) =>
    p.type(/lower case/.test(p.task) ? p.quoted().toLowerCase() : p.quoted().toUpperCase()),
  ),
  'enter-time': submitAfter((p) => {
    const [, hour, minute, half] = /(\d+):(\d+) ([AP])M/.exec(p.task) ?? [];
    const hours = (Number(hour) % 12) + (half === 'P' ? 12 : 0);
    return p.type(`${String(hours).padStart(2, '0')}:${minute}`);
  }),
  'find-greatest': submitAfter(async (p) => {
    const cards = (await p.all('generic')).filter(({ name }) => /^\d+$/.test(name));
    await p.click('generic', String(Math.max(...cards.map(({ name }) => Number(name)))));
  }),
  'find-word': submitAfter(async (p) => {
    const [text] = await p.all('paragraph');
    await p.type((text?.name.split(' ')[numberOf(p)] ?? '').replace(/[.,]/g, ''));
  }),
  'focus-text': (p) => p.click('textbox'),
  'focus-text-2': (p) => p.click('textbox', numberOf(p)),
  'form-sequence': submitAfter(async (p) => {
    await slide(p, 0, p.number() - Number(await p.read("$('#slider').slider('value')")));
    await p.click('checkbox', numberOf(p));
  }),
  'form-sequence-2': submitAfter(async (p) => {
    const [radio = '', box = ''] = [...p.task.matchAll(/(\d)(?:st|nd|rd)/g)].map(([, n]) => n);
    await p.click('radio', Number(radio) - 1);
    await p.type(p.quoted(), Number(box) - 1);
  }),
  async 'form-sequence-3'(p) {
    await p.select(p.match(/Choose (.*) from/));
    await p.click('button', p.quoted());
  },
  'generate-number': submitAfter(async (p) => {
    const limit = p.number();
    for (let isFit = false; !isFit; ) {
      await p.click('button', 'Generate');
      const n = Number(await p.read("document.querySelector('#display-number').textContent"));
      isFit = /odd/.test(p.task)
        ? n % 2 !== 0
        : /even/.test(p.task)
          ? n % 2 === 0
          : /less/.test(p.task)
            ? n < limit
            : n > limit;
    }
  }),
  'grid-coordinate': (p) => p.clickAt(`document.getElementById('${p.match(/(\(.*\))/)}')`),
  async 'guess-number'(p) {
    for (let [low, high] = [0, 9]; low <= high; ) {
      const guess = Math.floor((low + high) / 2);
      await p.type(guess, 0, 'spinbutton');
      await p.click('button', 'Submit');
      if (await p.isSolved()) return;
      const hint = String(
        await p.read(
          "document.querySelector('#waiting')?.parentElement.innerText ?? document.querySelector('#area').innerText",
        ),
      );
      if (/higher than|greater/.test(hint)) low = guess + 1;
      else high = guess - 1;
    }
  },
  async 'identify-shape'(p) {
    const shape = await p.read(
      "(() => { const e = document.querySelector('#area_svg > *'); return [e.tagName, e.textContent]; })()",
    );
    const kind =
      shape[0] === 'text'
        ? /\d/.test(shape[1])
          ? 'Number'
          : 'Letter'
        : ({ rect: 'Rectangle', circle: 'Circle' }[String(shape[0])] ?? 'Triangle');
    await p.click('button', kind);
  },
  'login-user': login,
  async 'login-user-popup'(p) {
    for (const [nth, text] of [p.quoted(0), p.quoted(1)].entries()) {
      await p.clickAt(`document.querySelectorAll('#area input')[${nth}]`);
      if (await p.read("document.querySelector('#popup') !== null"))
        await p.clickAt("document.querySelector('#popup-cancel')");
      await p.type(text, nth);
    }
    if (await p.read("document.querySelector('#popup') !== null"))
      await p.clickAt("document.querySelector('#popup-cancel')");
    await p.clickAt("document.querySelector('#subbtn')");
    if (await p.read("document.querySelector('#popup') !== null")) {
      await p.clickAt("document.querySelector('#popup-cancel')");
      await p.clickAt("document.querySelector('#subbtn')");
    }
  },
  'multi-layouts': movies,
  'multi-orderings': movies,
  async 'navigate-tree'(p) {
    const seen = `[...document.querySelectorAll('#area li span')].some((e) => e.textContent === ${JSON.stringify(p.quoted())} && e.getBoundingClientRect().height > 0)`;
    while (
      !(await p.read(seen)) &&
      (await p.read("document.querySelector('#area li.expandable > .hitarea') !== null"))
    )
      await p.clickAt("document.querySelector('#area li.expandable > .hitarea')");
    await p.clickWords('#area li span', p.quoted());
  },
  'odd-or-even': submitAfter(async (p) => {
    const numbers = (await p.all('generic'))
      .filter(({ name }) => /^-?\d+$/.test(name))
      .map(({ name }) => Number(name));
    for (const [nth, number] of numbers.entries()) {
      const buttons = (await p.all('button')).filter(
        ({ name }) => name === (number % 2 === 0 ? 'Even' : 'Odd'),
      );
      await p.ask({ action: 'click', ref: buttons[nth]?.ref });
    }
  }),
  async 'phone-book'(p) {
    const name = p.match(/Find (\w+)/);
    while ((await p.read("document.querySelector('#contact h2, #area h2').textContent")) !== name)
      await p.click('link', '>');
    const kind = /phone/.test(p.task) ? 'phone' : /email/.test(p.task) ? 'email' : 'address';
    await p.clickAt(`document.querySelector('#area .${kind}')`);
  },
  'read-table': submitAfter(async (p) => {
    const cells = (await p.all('cell')).map(({ name }) => name);
    await p.type(cells[cells.indexOf(p.match(/value of (.*) into/)) + 1] ?? '');
  }),
  'read-table-2': submitAfter(async (p) => {
    const cells = (await p.all('cell')).map(({ name }) => name);
    const labels = (await p.all('generic')).map(({ name }) => name).filter((name) => name.endsWith(':'));
    for (const [nth, label] of labels.slice(0, 2).entries())
      await p.type(cells[cells.indexOf(label.slice(0, -1)) + 1] ?? '', nth);
  }),
  'scroll-text': submitAfter(async (p) => {
    const text = String(await p.read("document.querySelector('#area textarea').value"));
    await p.type((text.trim().split(/\s+/).at(-1) ?? '').replace(/[.,]/g, ''), -1);
  }),
  'scroll-text-2': submitAfter(async (p) => {
    await p.click('textbox');
    await p.press(/bottom/.test(p.task) ? 'Control+End' : 'Control+Home');
  }),
  async 'search-engine'(p) {
    await p.type(p.quoted());
    await p.click('button', 'Search');
    for (let page = 0; page < Math.floor(numberOf(p) / 3); page += 1) await p.click('link', '>');
    await p.clickAt(
      `document.querySelectorAll('#page-content .search-title a, #page-content a')[${numberOf(p) % 3}]`,
    );
  },
  'simple-algebra': submitAfter(async (p) => {
    const text = String(await p.read("document.querySelector('#math-problem').textContent"));
    const [, remaining = '', sign = '', right = '', result = ''] =
      /(\w+) ([-+x*]) (\w+) = (-?\d+)/.exec(text) ?? [];
    const [a, b, c] = [Number(remaining), Number(right), Number(result)];
    await p.type(remaining === 'x' ? (sign === '+' ? c - b : c + b) : sign === '+' ? c - a : a - c);
  }),
  'simple-arithmetic': submitAfter(async (p) => {
    const [a = 0, sign = '', b = 0] = String(
      await p.read("document.querySelector('#math-problem').textContent"),
    ).split(' ');
    await p.type(
      sign === '+' ? Number(a) + Number(b) : sign === '-' ? Number(a) - Number(b) : Number(a) * Number(b),
    );
  }),
  'social-media-all': posts,
  'social-media-some': posts,
  async 'stock-market'(p) {
    const max = Number(p.match(/\$([\d.]+\d)/));
    for (let price = Infinity; price >= max; )
      price = Number(
        String(await p.read("document.querySelector('#area').innerText.match(/price: .([\\d.]+)/)[1]")),
      );
    await p.click('button', 'Buy');
  },
  async terminal(p) {
    const run = async (line: string): Promise<void> => {
      await p.ask({ action: 'type', ref: await p.ref('textbox'), text: line, slowly: true });
      await p.press('Enter');
    };
    await run('ls');
    const shown = String(await p.read("document.querySelector('#area').innerText"));
    const end = p.match(/extension (\.\w+)/);
    await run(
      `rm ${shown.split(/\s+/).find((word) => (end === '' ? /^\w+$/.test(word) : word.endsWith(end)) && !/user|ls|help/.test(word)) ?? ''}`,
    );
  },
  'text-transform': submitAfter(async (p) =>
    p.type(
      String(await p.read("document.querySelector('#captcha, #area svg, #area div').textContent")).trim(),
    ),
  ),
  async 'tic-tac-toe'(p) {
    const lines = ['012', '345', '678', '036', '147', '258', '048', '246'].map((line) =>
      [...line].map(Number),
    );
    for (let turn = 0; turn < 5 && !(await p.read('WOB_DONE_GLOBAL')); turn += 1) {
      const board = (await p.read(
        "[...document.querySelectorAll('.ttt-row span')].map((e) => e.className)",
      )) as string[];
      const wins = (mark: string): number | undefined =>
        lines
          .find(
            (line) =>
              line.filter((at) => board[at] === mark).length === 2 && line.some((at) => board[at] === ''),
          )
          ?.find((at) => board[at] === '');
      const move =
        wins('mark-x') ?? wins('mark-o') ?? [4, 0, 2, 6, 8, 1, 3, 5, 7].find((at) => board[at] === '');
      await p.clickAt(`document.querySelector('#ttt-${move}')`);
    }
  },
  'unicode-test': (p) => p.click('button', p.quoted()),
  'use-autocomplete': autocomplete,
  'use-autocomplete-nodelay': autocomplete,
  'use-slider': submitAfter(async (p) =>
    slide(p, 0, p.number() - Number(await p.read("$('#slider').slider('value')"))),
  ),
  'use-slider-2': submitAfter(async (p) => {
    for (let nth = 0; nth < 3; nth += 1)
      await slide(p, nth, p.number(nth) - Number(await p.read(`$('.ui-slider').eq(${nth}).slider('value')`)));
  }),
  'use-spinner': submitAfter((p) => p.type(p.number(), 0, 'spinbutton')),
  'visual-addition': submitAfter(async (p) =>
    p.type(Number(await p.read("document.querySelectorAll('.addition-block').length"))),
  ),
};
