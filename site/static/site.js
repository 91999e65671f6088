// What a page can do with scripts on: switch light and dark, copy commands,
// search, and follow a lab that runs. Without scripts everything is still read.
(() => {
  'use strict';
  const html = document.documentElement;
  const root = html.dataset.root;
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
      button.textContent = isDark() ? 'Light' : 'Dark';
      button.setAttribute('aria-label', `Switch to ${isDark() ? 'light' : 'dark'} colours`);
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

  // What is typed, without prompts and output.
  const typed = (code) => {
    const commands = [...code.querySelectorAll('kbd')].map((line) => line.textContent);
    return commands.length > 0 ? commands.join('\n') + '\n' : code.textContent;
  };

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
      const button = make('button', { type: 'button', className: 'copy', textContent: 'Copy' });
      const first = typed(code).trim().split('\n')[0].slice(0, 60);
      button.setAttribute('aria-label', `Copy: ${first}`);
      button.addEventListener('click', () => copy(typed(code)).then(() => 'Copied', () => 'Not copied').then((word) => {
        button.textContent = word;
        say(word);
        setTimeout(() => { button.textContent = 'Copy'; }, 2000);
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

  const most = 30;
  let index = null;
  let loading = null;
  function loadIndex() {
    loading ??= new Promise((done, failed) => {
      const script = make('script', { src: `${root}search-index.js`, onload: done, onerror: failed });
      document.head.append(script);
    }).then(() => { index = unpack(searchIndex); });
    return loading;
  }

  // A small letter or a digit ends a number; capitals before it are its rest.
  const distances = (text) => (text.match(/[A-Z]*[0-9a-z]/g) ?? []).map((n) =>
    [...n.slice(0, -1)].reduce((high, letter) => high * 26 + letter.charCodeAt(0) - 65, 0) * 36 + parseInt(n.at(-1), 36));

  const usualAnchor = (text) => text.toLowerCase().replaceAll(' ', '-').replace(/[^a-z0-9-]/g, '');

  function unpack(data) {
    const sections = [];
    for (let i = 0; i < data.sections.length; i += 2) {
      const [id, title] = data.pages[data.sections[i]];
      const [text, anchor = usualAnchor(text)] = data.heads[data.sections[i + 1]];
      const heads = cut(anchor ? text : `${title} ${id}`);
      sections.push({ page: data.sections[i], id, title, anchor, text, heads });
    }
    let word = [];
    const words = data.words.split('\n').filter(Boolean).map((line) => {
      const [head, gaps] = line.split(' ');
      word = [...word.slice(0, parseInt(head[0], 36)), ...[...head].slice(1)];
      let at = 0;
      return [word.join(''), distances(gaps).map((n) => at += n)];
    });
    return { sections, words, common: new Set(data.common.split(' ')) };
  }

  // How much a word counts: in the title of a page, in a heading, in the text.
  // A section also has the words of its page's title, but not those alone.
  const inTitle = 4, inHeading = 3, inText = 1, fromTitle = 0.5;

  function score(word) {
    const scores = new Map();
    const begins = (other) => other.startsWith(word);
    for (const [other, list] of index.words) if (begins(other)) for (const at of list) scores.set(at, inText);
    const titled = new Set(index.sections.filter((section) => !section.anchor && section.heads.some(begins)).map((section) => section.page));
    index.sections.forEach((section, at) => {
      if (section.heads.some(begins)) scores.set(at, section.anchor ? inHeading : inTitle);
      else if (titled.has(section.page) && !scores.has(at)) scores.set(at, fromTitle);
    });
    return scores;
  }

  // Sections that have every word; then pages that have them all, but scattered.
  function find(question) {
    const asked = [...new Set(cut(question))].filter((word) => !index.common.has(word));
    if (asked.length === 0) return [];
    const scores = asked.map(score);
    const pageOf = (at) => index.sections[at].page;
    const found = new Map();
    for (const at of scores[0].keys()) {
      const each = scores.map((of) => of.get(at) || 0);
      if (Math.min(...each) > 0 && Math.max(...each) > fromTitle) found.set(at, each.reduce((sum, n) => sum + n) / each.length);
    }
    const seen = new Set([...found.keys()].map(pageOf));
    const pages = scores.map((of) => new Set([...of.keys()].map(pageOf)));
    index.sections.forEach((section, at) => {
      if (!section.anchor && !seen.has(section.page) && pages.every((of) => of.has(section.page))) found.set(at, 0);
    });
    return [...found].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, most).map(([at]) => index.sections[at]);
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
    const show = (found, word) => {
      list.replaceChildren(...found.map((section, i) => {
        const option = make('a', { id: `Result${i}`, href: `${root}${section.id}.html${section.anchor ? `#${encodeURIComponent(section.anchor)}` : ''}`, tabIndex: -1 },
          make('b', { textContent: section.anchor ? section.text : section.title }), ' ',
          make('span', { textContent: section.anchor ? section.title : '' }));
        option.setAttribute('role', 'option');
        option.setAttribute('aria-selected', 'false');
        return option;
      }));
      list.hidden = found.length === 0;
      input.setAttribute('aria-expanded', String(found.length > 0));
      get('Found').textContent = word;
      active = -1;
      input.removeAttribute('aria-activedescendant');
    };
    const hide = () => show([], '');
    const ask = async () => {
      if (!input.value.trim()) return hide();
      try { await loadIndex(); } catch { return show([], 'The search index cannot be read'); }
      const found = find(input.value);
      return show(found, found.length === 0 ? 'Nothing found' : `${found.length === most ? `The first ${most}` : found.length} found`);
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

  function showStates(states) {
    for (const place of document.querySelectorAll('[data-page]')) {
      const state = states[place.dataset.page];
      if (!state) continue;
      const shown = place.querySelector('.state') || place.appendChild(make('span', { className: 'state' }));
      const icon = make('span', { textContent: state.icon });
      icon.setAttribute('aria-hidden', 'true');
      shown.replaceChildren(icon, ` ${state.text}`);
    }
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
