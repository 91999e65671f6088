// What finds the sections that a question is about. A page reads it together
// with the index, when someone searches.
var siteSearch = (() => {
  'use strict';
  const mostOfPage = 3;
  let index = null;
  const mark = (text) => {
    const node = document.createElement('mark');
    node.textContent = text;
    return node;
  };

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

  // A small letter or a digit ends a number; capitals before it are its rest.
  const distances = (text) => (text.match(/[A-Z]*[0-9a-z]/g) ?? []).map((n) =>
    [...n.slice(0, -1)].reduce((high, letter) => high * 26 + letter.charCodeAt(0) - 65, 0) * 36 + parseInt(n.at(-1), 36));

  const usualAnchor = (text) => text.toLowerCase().replaceAll(' ', '-').replace(/[^a-z0-9-]/g, '');

  // How much a word counts: in the title of a page, in a heading, in the text.
  // A section also has the words of its page's title, but not those alone.
  const inTitle = 6, inHeading = 3, inText = 1, fromTitle = 0.5, onPage = 0.2;
  // Libraries and annotated files are what a reader looks up last, and a few words
  // seldom mean one cause, or another page that its parent lists.
  const ofReference = 0.45;
  const ofDetail = 0.1;

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
      sections.push({ at, top, page: data.sections[i], id, title, anchor, text, heads, kind });
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
  function find(question, most) {
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
    // A few words name a subject; many are what a program printed.
    const weights = { library: ofReference, file: ofReference, detail: terms.length < 4 ? ofDetail : 1 };
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
      found.push([section, score * bonus * (weights[section.kind] ?? 1) * (here / whole) ** 2]);
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
      out.push(text.slice(at, m.index), mark(m[0]));
      at = m.index + m[0].length;
    }
    return [...out, text.slice(at, end), end < text.length ? ' …' : ''];
  }

  return { open: (data) => { index = unpack(data); }, find, excerpt };
})();
