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

  function nameLinks() {
    for (const link of document.querySelectorAll('.p')) link.setAttribute('aria-label', word('permalink'));
  }

  // Only what scrolls needs a stop of the keyboard.
  function scrollers() {
    const boxes = [...document.querySelectorAll('main [tabindex="0"]')];
    const look = () => { for (const box of boxes) box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1; };
    addEventListener('resize', look);
    look();
  }

  // --- search ----------------------------------------------------------------

  const most = 30;
  let loading = null;
  const load = (name) => new Promise((done, failed) => {
    document.head.append(make('script', { src: root + name, onload: done, onerror: failed }));
  });
  function loadIndex() {
    // What finds is read with the index, when someone searches.
    loading ??= Promise.all([load('search-index.js'), load('search.js')]).then(() => { siteSearch.open(searchIndex); });
    return loading;
  }

  // The text of a section is in one of several files.
  const textFiles = new Map();
  async function textOf(at) {
    const file = searchIndex.files.findLastIndex((first) => first <= at);
    if (!textFiles.has(file)) textFiles.set(file, load(`search/${file}.js`));
    await textFiles.get(file);
    return searchIndex.texts[file][at - searchIndex.files[file]];
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
        textOf(section.at).then((text) => { if (mine === shown) place.replaceChildren(...siteSearch.excerpt(text, words)); }, () => {});
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
      const { found, words } = siteSearch.find(input.value, most);
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
    let events, built;
    const end = () => events?.close();
    // A page that nobody sees listens to nothing: a browser opens six connections
    // to one server, and the seventh page would never load.
    const listen = () => {
      end();
      if (document.hidden) return;
      events = new EventSource(html.dataset.live);
      events.addEventListener('built', (event) => {
        if (built && built !== event.data) location.reload();
        built = event.data;
      });
      events.addEventListener('reload', () => location.reload());
      events.addEventListener('states', (event) => showStates(JSON.parse(event.data)));
      events.addEventListener('clock', (event) => showClock(JSON.parse(event.data)));
    };
    document.addEventListener('visibilitychange', listen);
    addEventListener('pagehide', end);
    listen();
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
    nameLinks();
    search();
    follow();
    showWhereWeAre();
  });
})();
