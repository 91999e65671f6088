// What a page can do with scripts on: switch light and dark, copy commands,
// search, and follow a lab that runs. Without scripts everything is still read.
(() => {
  'use strict';
  const html = document.documentElement;
  const root = html.dataset.root;
  // siteWords stands before this file: the texts of every language.
  const texts = siteWords[html.lang] ?? siteWords.en;
  const word = (key, value) => texts[key].replace('%s', () => value);
  const get = (id) => document.getElementById(id);
  const make = (tag, set, ...children) => {
    const node = Object.assign(document.createElement(tag), set);
    node.append(...children);
    return node;
  };

  // --- light and dark: before the page is painted ----------------------------

  // A browser may refuse to remember anything; the choice then lasts a page.
  const remember = (value) => { try { localStorage.setItem('theme', value); } catch { /* no store */ } };
  const remembered = () => { try { return localStorage.getItem('theme'); } catch { return null; } };
  const darkOutside = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (html.dataset.theme || (darkOutside.matches ? 'dark' : 'light')) === 'dark';
  html.classList.add('scripts');
  if (['light', 'dark'].includes(remembered())) html.dataset.theme = remembered();

  function themeButton() {
    const button = get('Theme');
    const name = () => {
      button.textContent = word(isDark() ? 'light' : 'dark');
      button.setAttribute('aria-label', word(isDark() ? 'to-light' : 'to-dark'));
    };
    button.addEventListener('click', () => {
      html.dataset.theme = isDark() ? 'light' : 'dark';
      remember(html.dataset.theme);
      name();
    });
    darkOutside.addEventListener('change', name);
    name();
  }

  // --- copying commands ------------------------------------------------------

  const say = (text) => { get('Said').textContent = ''; setTimeout(() => { get('Said').textContent = text; }, 50); };

  // What is typed: no prompt, no output, and no comment, which some shells take
  // for a command.
  function typed(code) {
    const lines = [...code.querySelectorAll('kbd')].map(commands);
    return (lines.length > 0 ? lines.filter(Boolean).join('\n') + '\n' : commands(code));
  }
  function commands(node) {
    const copied = node.cloneNode(true);
    const comments = [...copied.querySelectorAll('.c')];
    if (comments.length === 0) return copied.textContent;
    for (const comment of comments) comment.replaceWith('\u0000'.repeat(comment.textContent.split('\n').length));
    return copied.textContent.split('\n').filter((line) => !/^\s*\u0000+\s*$/.test(line)).map((line) => line.replace(/\s*\u0000+/, '')).join('\n');
  }

  async function copy(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    // Over plain http from another machine there is no clipboard to ask for.
    const area = make('textarea', { value: text, className: 'quiet' });
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (!done) throw new Error('refused');
  }

  function copyButtons() {
    for (const block of document.querySelectorAll('.typed')) {
      const code = block.querySelector('code');
      const button = make('button', { type: 'button', className: 'copy', textContent: word('copy') });
      const first = typed(code).trim().split('\n')[0].slice(0, 60);
      button.setAttribute('aria-label', word('copy-what', first));
      button.addEventListener('click', () => copy(typed(code)).then(() => word('copied'), () => word('not-copied')).then((text) => {
        button.textContent = text;
        say(text);
        setTimeout(() => { button.textContent = word('copy'); }, 2000);
      }));
      block.prepend(button);
    }
  }

  // Only what scrolls needs a stop of the keyboard.
  function scrollers() {
    const boxes = [...document.querySelectorAll('main [tabindex="0"]')];
    const look = () => { for (const box of boxes) box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1; };
    addEventListener('resize', look);
    look();
  }

  // --- search ----------------------------------------------------------------

  const signs = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}';
  const runs = new RegExp(`[${signs}]+|(?:(?![${signs}])[\\p{L}\\p{Nd}\\p{M}])+`, 'gu');
  const starts = new RegExp(`^[${signs}]`, 'u');

  // As the index was cut: words, and pairs of signs where there are no spaces.
  function cut(text) {
    return (text.toLowerCase().match(runs) || []).flatMap((run) => {
      const letters = [...run];
      if (!starts.test(run) || letters.length === 1) return [run];
      return letters.slice(1).map((letter, i) => letters[i] + letter);
    });
  }

  const most = 30, mostOfPage = 3;
  let index = null;
  let loading = null;
  const load = (name) => new Promise((done, failed) => {
    document.head.append(make('script', { src: root + name, onload: done, onerror: failed }));
  });
  function loadIndex() {
    loading ??= load('search-index.js').then(() => { index = unpack(searchIndex); });
    return loading;
  }

  // The text of a section is in one of several files.
  const textFiles = new Map();
  async function textOf(at) {
    const file = index.files.findLastIndex((first) => first <= at);
    if (!textFiles.has(file)) textFiles.set(file, load(`search/${file}.js`));
    await textFiles.get(file);
    return searchIndex.texts[file][at - index.files[file]];
  }

  // A small letter or a digit ends a number; capitals before it are its rest.
  const distances = (text) => (text.match(/[A-Z]*[0-9a-z]/g) ?? []).map((n) =>
    [...n.slice(0, -1)].reduce((high, letter) => high * 26 + letter.charCodeAt(0) - 65, 0) * 36 + parseInt(n.at(-1), 36));

  const usualAnchor = (text) => text.toLowerCase().replaceAll(' ', '-').replace(/[^a-z0-9-]/g, '');

  // How much a word counts: in the title of a page, in a heading, in the text.
  // A section also has the words of its page's title, but not those alone.
  const inTitle = 6, inHeading = 3, inText = 1, fromTitle = 0.5, onPage = 0.2;
  // Libraries and annotated files are what a reader looks up last.
  const ofReference = 0.45;

  // places maps every word to the sections that have it, and what it counts there.
  function unpack(data) {
    const places = new Map();
    const put = (word, at, count) => {
      if (!places.has(word)) places.set(word, new Map());
      const of = places.get(word);
      of.set(at, Math.max(of.get(at) ?? 0, count));
    };
    let word = [];
    for (const line of data.words.split('\n').filter(Boolean)) {
      const [head, gaps] = line.split(' ');
      word = [...word.slice(0, parseInt(head[0], 36)), ...[...head].slice(1)];
      let at = 0;
      for (const n of distances(gaps)) put(word.join(''), at += n, inText);
    }
    const sections = [];
    let titled = [], top = 0;
    for (let i = 0; i < data.sections.length; i += 2) {
      const at = i / 2;
      const [id, title, kind] = data.pages[data.sections[i]];
      const [text, anchor = usualAnchor(text)] = data.heads[data.sections[i + 1]];
      if (!anchor) [titled, top] = [cut(`${title} ${id}`), at];
      const heads = anchor ? cut(text) : titled;
      for (const w of titled) put(w, at, fromTitle);
      for (const w of heads) put(w, at, anchor ? inHeading : inTitle);
      sections.push({ at, top, page: data.sections[i], id, title, anchor, text, heads, weight: kind ? ofReference : 1 });
    }
    const synonyms = data.synonyms.map((group) => group.map(cut));
    return { sections, places, words: [...places.keys()], common: new Set(data.common.split(' ')), synonyms, files: data.files };
  }

  // Words that differ by one letter more, less, other, or in another order.
  function near(a, b) {
    if (Math.abs(a.length - b.length) > 1) return false;
    let from = 0;
    while (from < a.length && a[from] === b[from]) from++;
    const rest = (x, skip) => x.slice(from + skip);
    return rest(a, 1) === rest(b, 1) || rest(a, 1) === rest(b, 0) || rest(a, 0) === rest(b, 1)
      || (a[from] === b[from + 1] && a[from + 1] === b[from] && rest(a, 2) === rest(b, 2));
  }

  // What a word of the question stands for: lists of words of the index that a
  // section has to have, and how sure that is.
  function meanings(word, asked, at) {
    const known = (w) => index.places.has(w);
    const out = known(word) ? [[[word], 1]] : [];
    for (const w of index.words) if (w !== word && w.startsWith(word)) out.push([[w], 0.7]);
    if (word.endsWith('s') && known(word.slice(0, -1))) out.push([[word.slice(0, -1)], 0.8]);
    for (const joined of [asked[at - 1] + word, word + asked[at + 1]]) if (known(joined)) out.push([[joined], 0.9]);
    for (const group of index.synonyms) {
      for (const form of group) {
        const begin = form.indexOf(word) < 0 ? -1 : at - form.indexOf(word);
        if (form.join('') !== word && (begin < 0 || !form.every((w, i) => asked[begin + i] === w))) continue;
        for (const other of group) if ((other !== form || !form.includes(word)) && other.every(known)) out.push([other, 0.85]);
      }
    }
    if (known(word)) return out;
    for (let i = 2; i <= word.length - 2; i++) {
      const parts = [word.slice(0, i), word.slice(i)];
      if (parts.every((w) => known(w) || index.common.has(w))) out.push([parts.filter(known), 0.7]);
    }
    if (out.length === 0 && word.length >= 4 && !/^\d+$/.test(word)) for (const w of index.words) if (near(word, w)) out.push([[w], 0.6]);
    return out;
  }

  // The sections of a word of the question, and which words of the index it is.
  function term(word, asked, at) {
    const scores = new Map();
    const words = new Set();
    for (const [all, sure] of meanings(word, asked, at)) {
      const [first, ...others] = all.map((w) => index.places.get(w));
      if (!first) continue;
      for (const w of all) words.add(w);
      for (const [section, count] of first) {
        const each = Math.min(count, ...others.map((of) => of.get(section) ?? 0));
        if (each > 0) scores.set(section, Math.max(scores.get(section) ?? 0, each * sure));
      }
    }
    const pages = new Set([...scores.keys()].map((section) => index.sections[section].page));
    return { scores, words, pages, rare: Math.log(1 + index.sections.length / (1 + scores.size)) };
  }

  // A short question has to be met whole, on one page; of a long one, such as an
  // error that was pasted, most words are enough. What is rare counts more.
  function find(question) {
    const all = cut(question);
    const terms = all.map((word, at) => [word, at]).filter(([word, at]) => all.indexOf(word) === at && !index.common.has(word))
      .map(([word, at]) => term(word, all, at));
    const known = terms.filter((t) => t.scores.size > 0);
    const enough = terms.length < 4 ? terms.length : Math.max(2, Math.ceil(known.length * 0.5));
    if (terms.length === 0 || known.length < enough) return { found: [], words: new Set() };
    const whole = known.reduce((sum, t) => sum + t.rare, 0);
    const asked = all.join(' ');
    const named = index.synonyms.filter((group) => group.some((form) => form.join(' ') === asked || form.join('') === asked)).flat().map((form) => form.join(' '));
    const exact = new Set([asked, ...named]);
    const found = [];
    for (const section of index.sections) {
      let score = 0, met = 0, here = 0, own = 0;
      // "render-etcd flags" is about the heading of that page.
      const inTop = (t) => (t.scores.get(section.top) ?? 0) >= 0.7 * inTitle;
      const inHead = (t) => (t.scores.get(section.at) ?? 0) >= 0.7 * inHeading;
      const headed = section.anchor && known.every((t) => inHead(t) || inTop(t)) && known.some((t) => inHead(t) && !inTop(t)) && known.some(inTop);
      for (const t of known) {
        const count = t.scores.get(section.at) ?? 0;
        if (count === 0 && !t.pages.has(section.page)) continue;
        met++;
        own = Math.max(own, count);
        here += t.rare * (count > 0 ? 1 : 0.4);
        score += t.rare * (headed && inTop(t) ? inTitle + 0.2 : count || onPage);
      }
      if (met < enough || own <= fromTitle) continue;
      const heads = section.heads.join(' ');
      const bonus = !section.anchor && exact.has(section.id.replaceAll('-', ' ')) ? 5 : exact.has(heads) ? 2 : heads.includes(asked) ? 1.4 : 1;
      found.push([section, score * bonus * section.weight * (here / whole) ** 2]);
    }
    found.sort((a, b) => b[1] - a[1] || a[0].at - b[0].at);
    const times = new Map();
    const few = found.map(([section]) => section).filter((section) => {
      times.set(section.page, (times.get(section.page) ?? 0) + 1);
      return times.get(section.page) <= mostOfPage;
    });
    return { found: few.slice(0, most), words: new Set(known.flatMap((t) => [...t.words])) };
  }

  // A piece of a text around the words that were found, with marks on them.
  const around = 150;
  function excerpt(text, words) {
    const hits = [...text.matchAll(runs)].filter((m) => cut(m[0]).some((w) => words.has(w)));
    if (hits.length === 0) return [];
    const within = (from) => new Set(hits.filter((m) => m.index >= from.index && m.index < from.index + around).map((m) => m[0].toLowerCase())).size;
    const best = hits.reduce((a, b) => (within(b) > within(a) ? b : a));
    const from = best.index < 40 ? 0 : text.indexOf(' ', best.index - 40) + 1;
    const end = Math.min(text.length, from + around + 40);
    const out = [from > 0 ? '… ' : ''];
    let at = from;
    for (const m of hits.filter((m) => m.index >= from && m.index + m[0].length <= end)) {
      out.push(text.slice(at, m.index), make('mark', { textContent: m[0] }));
      at = m.index + m[0].length;
    }
    return [...out, text.slice(at, end), end < text.length ? ' …' : ''];
  }

  function search() {
    const input = get('Search');
    const list = get('Results');
    let active = -1;

    const choose = (to) => {
      const options = [...list.children];
      active = options.length === 0 ? -1 : (to + options.length) % options.length;
      options.forEach((option, i) => option.setAttribute('aria-selected', String(i === active)));
      if (active < 0) input.removeAttribute('aria-activedescendant');
      else {
        input.setAttribute('aria-activedescendant', options[active].id);
        options[active].scrollIntoView({ block: 'nearest' });
      }
    };
    let shown = 0;
    const show = (found, text, words) => {
      const mine = ++shown;
      list.replaceChildren(...found.map((section, i) => {
        const option = make('a', { id: `Result${i}`, href: `${root}${section.id}.html${section.anchor ? `#${encodeURIComponent(section.anchor)}` : ''}`, tabIndex: -1 },
          make('b', { textContent: section.anchor ? section.text : section.title }), ' ',
          make('span', { textContent: section.anchor ? section.title : '' }));
        const place = make('small', {});
        option.append(place);
        textOf(section.at).then((text) => { if (mine === shown) place.replaceChildren(...excerpt(text, words)); }, () => {});
        option.setAttribute('role', 'option');
        option.setAttribute('aria-selected', 'false');
        return option;
      }));
      list.hidden = found.length === 0;
      input.setAttribute('aria-expanded', String(found.length > 0));
      get('Found').textContent = text;
      active = -1;
      input.removeAttribute('aria-activedescendant');
    };
    const hide = () => show([], '');
    const ask = async () => {
      if (!input.value.trim()) return hide();
      try { await loadIndex(); } catch { return show([], word('no-index')); }
      const { found, words } = find(input.value);
      return show(found, found.length === 0 ? word('nothing') : word(found.length === most ? 'first-found' : 'found', found.length), words);
    };

    input.addEventListener('input', ask);
    input.addEventListener('focus', () => { loadIndex().catch(() => {}); if (input.value) ask(); });
    input.addEventListener('keydown', (event) => {
      const moves = { ArrowDown: active + 1, ArrowUp: active < 0 ? -1 : active - 1 };
      if (event.key in moves && !list.hidden) choose(moves[event.key]);
      else if (event.key === 'Enter' && list.children.length > 0) { list.children[Math.max(active, 0)].click(); hide(); }
      else if (event.key === 'Escape') { input.value = ''; hide(); input.blur(); }
      else return;
      event.preventDefault();
    });
    document.addEventListener('click', (event) => { if (!event.target.closest('.search')) hide(); });
    document.addEventListener('keydown', (event) => {
      const busy = event.target.closest('input, textarea, select, [contenteditable]');
      if (event.key !== '/' || busy || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
  }

  // --- a lab that runs ---------------------------------------------------------

  function showStates({ pages, here }) {
    for (const place of document.querySelectorAll('[data-page]')) {
      const state = pages[place.dataset.page];
      if (!state) continue;
      const shown = place.querySelector('.state') || place.appendChild(make('span', {}));
      shown.className = `state ${state.class}`;
      const icon = make('span', { textContent: state.icon });
      icon.setAttribute('aria-hidden', 'true');
      shown.replaceChildren(icon, ` ${state.text}`);
    }
    const box = get('Here');
    if (!box || !here) return;
    const next = here.href ? [make('a', { href: root + here.href, textContent: here.go })] : [];
    box.replaceChildren(make('p', { textContent: here.text }), ...next);
  }

  function showClock(text) {
    const place = get('Clock');
    place.textContent = text;
    place.hidden = !text;
  }

  function follow() {
    if (!html.dataset.live) return;
    const events = new EventSource(html.dataset.live);
    events.addEventListener('reload', () => location.reload());
    events.addEventListener('states', (event) => showStates(JSON.parse(event.data)));
    events.addEventListener('clock', (event) => showClock(JSON.parse(event.data)));
    addEventListener('pagehide', () => events.close());
  }

  function showWhereWeAre() {
    const map = get('Map');
    const here = map.querySelector('[aria-current]');
    if (here && here.offsetTop + here.offsetHeight > map.clientHeight) map.scrollTop = here.offsetTop - map.clientHeight / 3;
  }

  document.addEventListener('DOMContentLoaded', () => {
    themeButton();
    copyButtons();
    scrollers();
    search();
    follow();
    showWhereWeAre();
  });
})();
