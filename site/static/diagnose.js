// The page diagnose: a bundle goes to a worker, which runs the diagnosis of bootlab as
// WebAssembly, and the answer becomes a part of the page. What a bundle says only ever
// becomes text.
(() => {
  'use strict';
  const html = document.documentElement;
  const texts = diagnoseWords[html.lang] ?? diagnoseWords.en;
  const word = (key, ...values) => texts[key].replace(/%s/g, () => values.shift());
  const get = (id) => document.getElementById(id);

  // What a terminal or the direction of writing would take for an order is shown as a mark.
  const plain = (text) => String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
  const make = (tag, set, ...children) => {
    const node = Object.assign(document.createElement(tag), set);
    node.append(...children.flat().filter((child) => child !== null && child !== '').map((child) => (typeof child === 'string' ? plain(child) : child)));
    return node;
  };

  html.classList.add('scripts');
  try {
    const theme = localStorage.getItem('theme');
    if (['light', 'dark'].includes(theme)) html.dataset.theme = theme;
  } catch { /* no store */ }

  // --- the worker --------------------------------------------------------------

  // This runs in the worker, behind what Go needs around its program.
  function worker() {
    const reader = new FileReaderSync();
    let told = 0;
    globalThis.ready = () => postMessage({ kind: 'ready' });
    let instance;
    const begin = async (module) => {
      const go = new Go();
      instance = await WebAssembly.instantiate(module, go.importObject);
      await go.run(instance);
      postMessage({ kind: 'died' });
    };
    const answer = ({ work, file }) => {
      const parts = [];
      const read = (from, length) => {
        const now = performance.now();
        if (now - told > 100 || from + length >= file.size) {
          told = now;
          postMessage({ kind: 'progress', done: Math.min(from + length, file.size) });
        }
        try { return new Uint8Array(reader.readAsArrayBuffer(file.slice(from, from + length))); } catch { return null; }
      };
      let text;
      try { text = bootlab[work](file.name, file.size, read, (part) => { parts.push(part); }); } catch { /* the program ended */ }
      postMessage(text ? { kind: 'answer', work, text, copy: new Blob(parts), memory: instance.exports.mem.buffer.byteLength } : { kind: 'died' });
    };
    onmessage = ({ data }) => {
      if (data.module) begin(data.module).catch((error) => postMessage({ kind: 'failed', text: String(error) }));
      else answer(data);
    };
  }

  const unpacked = async () => {
    const packed = atob(diagnoseProgram.wasm);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return WebAssembly.compileStreaming(new Response(stream, { headers: { 'Content-Type': 'application/wasm' } }));
  };
  let program = null; // the promise of the compiled program, which every worker gets

  let running = null; // the worker
  let isReady = false;
  let task = null; // what it does: work, file, begun, done
  function start() {
    program ??= unpacked();
    isReady = false;
    const source = URL.createObjectURL(new Blob([diagnoseProgram.support, `;(${worker})();`], { type: 'text/javascript' }));
    const mine = running = new Worker(source);
    URL.revokeObjectURL(source);
    mine.onmessage = ({ data }) => { if (mine === running) hear(data); };
    mine.onerror = (event) => { event.preventDefault(); if (mine === running) hear({ kind: 'died' }); };
    program.then((module) => mine.postMessage({ module })).catch((error) => { if (mine === running) hear({ kind: 'failed', text: String(error) }); });
  }
  function stop() {
    running.terminate();
    running = task = null;
    get('Work').hidden = true;
    start();
  }

  function hear(data) {
    if (data.kind === 'ready') {
      isReady = true;
      get('Answer').dataset.ready = 'true';
      if (task) running.postMessage({ work: task.work, file: task.file });
    } else if (data.kind === 'progress' && task) {
      task.done = data.done;
    } else if (data.kind === 'failed') {
      end();
      trouble(word('old-browser', data.text));
    } else if (data.kind === 'died') {
      if (!task) return;
      stop();
      trouble(word('died'));
    } else if (data.kind === 'answer' && task) {
      const { work, file, begun } = task;
      const { answer, error } = JSON.parse(data.text);
      if (answer) Object.assign(answer, { memory: data.memory, seconds: (performance.now() - begun) / 1000 });
      end();
      if (error) trouble(word(work === 'mask' ? 'not-masked' : 'failed', error));
      else if (work === 'mask') showMasked(file, answer, data.copy);
      else show(file, answer);
    }
  }

  // --- progress ------------------------------------------------------------------

  const mega = (bytes) => (bytes / 1e6).toFixed(1);
  let said = 0;
  const say = (text) => { get('Said').textContent = ''; setTimeout(() => { get('Said').textContent = plain(text); }, 50); };
  function tick() {
    if (!task) return;
    const seconds = ((performance.now() - task.begun) / 1000).toFixed(1);
    const { name, size } = task.file;
    const judging = task.done >= size;
    const bar = get('Progress');
    let text;
    if (!isReady) text = word('loading');
    else if (judging && task.work === 'diagnose') text = word('judging', name, seconds);
    else text = word(task.work === 'mask' ? 'masking' : 'reading', name, mega(task.done), mega(size), seconds);
    get('Doing').textContent = plain(text);
    if (!isReady || judging) bar.removeAttribute('value');
    else bar.value = (100 * task.done) / Math.max(size, 1);
    // Every quarter of a second is too much to listen to.
    if (performance.now() - said > 5000) {
      said = performance.now();
      say(judging || !isReady ? text : word('percent', Math.floor(bar.value)));
    }
  }
  setInterval(tick, 250);

  function begin(work, file) {
    if (task) stop();
    if (!running) start();
    task = { work, file, begun: performance.now(), done: 0 };
    said = performance.now();
    get('Trouble').hidden = true;
    if (work === 'diagnose') get('Answer').replaceChildren();
    get('Work').hidden = false;
    tick();
    say(get('Doing').textContent);
    if (isReady) running.postMessage({ work, file });
  }
  function end() {
    task = null;
    get('Work').hidden = true;
  }
  function trouble(text) {
    const place = get('Trouble');
    place.textContent = plain(text);
    place.hidden = false;
    say(text);
  }
  function choose(files) {
    if (files.length > 1) trouble(word('not-one', files.length));
    else if (files.length === 1) begin('diagnose', files[0]);
  }

  // --- what is done with an answer ---------------------------------------------------

  async function copy(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = make('textarea', { value: text, className: 'quiet' });
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (!done) throw new Error('refused');
  }
  function save(name, blob) {
    const link = make('a', { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }
  const button = (key, act) => make('button', { type: 'button', textContent: word(key), onclick: act });

  // --- the answer ------------------------------------------------------------------

  const mostRows = 500;
  const moment = (text) => (text ? text.slice(0, 19).replace('T', ' ') : '-');
  function lasting(seconds) {
    const sign = seconds < 0 ? '-' : '';
    const parts = [];
    let left = Math.abs(Math.round(seconds));
    for (const [unit, length] of [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]]) {
      if (left >= length && parts.length < 2) parts.push(`${Math.floor(left / length)} ${unit}`);
      left %= length;
    }
    return sign + (parts.join(' ') || '0 s');
  }

  function table(heads, rows) {
    const body = rows.slice(0, mostRows).map((cells) => make('tr', {}, cells.map((cell, i) => {
      const td = make('td', {}, cell);
      td.dataset.h = word(heads[i]);
      return td;
    })));
    return make('div', {}, make('div', { className: 'table' },
      make('table', {}, make('thead', {}, make('tr', {}, heads.map((head) => Object.assign(make('th', {}, word(head)), { scope: 'col' })))), make('tbody', {}, body))), more(rows));
  }
  const more = (rows) => (rows.length > mostRows ? make('p', {}, word('rows', rows.length - mostRows)) : null);
  const listed = (rows) => [make('ul', {}, rows.slice(0, mostRows).map((row) => make('li', {}, row))), more(rows)];
  const block = (lines) => make('pre', {}, make('code', {}, lines));
  const fold = (title, ...children) => make('details', {}, make('summary', {}, title), ...children);
  const exhibits = (all) => (all ?? []).map((e) => [make('p', {}, `${e.node ? word('of-node', e.title, e.node) : e.title}:`), block((e.lines ?? []).join('\n'))]).flat();

  function leadsTo(cause) {
    const [page, part] = cause.address.split('#');
    if (!get('Content').dataset.pages.split(' ').includes(page)) return make('p', {}, word('in-guide', cause.address, cause.page || cause.id));
    const [before, after] = texts.read.split('%s');
    return make('p', {}, before, make('a', { href: `${page}.html${part ? `#${part}` : ''}` }, cause.title), after);
  }
  const causeOf = (cause, title) => make('section', { className: 'verdict' }, make('h3', {}, title), make('p', {}, cause.cause), exhibits(cause.shown),
    make('h4', {}, word('fix')), make('p', {}, cause.fix), make('h4', {}, word('see')), block(cause.command), leadsTo(cause));

  function subject(s, file, answer) {
    const facts = [['domain', s?.domain], ['release', s?.release], ['platform', s?.platform], ...(s?.assumed ?? []).map((text) => ['assumed', text])];
    return [make('p', {}, word('bundle', file.name, moment(answer.collected))),
      make('dl', { className: 'facts' }, facts.filter(([, text]) => text).map(([key, text]) => [make('dt', {}, word(key)), make('dd', {}, text)]).flat())];
  }

  function verdict(report, answer) {
    if (report.cause) return causeOf(report.cause, word('cause', report.cause.title));
    const lead = report.lead;
    return make('section', { className: 'verdict' }, make('h3', {}, answer.words), answer.limit ? make('p', {}, answer.limit) : null,
      lead ? [make('p', {}, word('failed-line', [lead.service, lead.stage, lead.at].filter(Boolean).join(', '))), block(lead.line)] : [],
      (report.likely ?? []).length > 0 ? [make('h4', {}, word('likely')), ...report.likely.map((c) => [make('p', {}, make('strong', {}, c.title)), block(c.command), leadsTo(c)]).flat()] : [],
      report.verdict === 'not known' ? exhibits(report.evidence) : []);
  }

  const part = (key, ...children) => [make('h2', {}, word(key)), ...children];
  const checks = (all) => (all ?? []).map((c) => [make('h3', {}, `${c.stage}: ${c.title}`), make('dl', { className: 'facts' }, make('dt', {}, word('found')), make('dd', {}, c.found), make('dt', {}, word('hint')), make('dd', {}, c.hint))]).flat();
  const walked = (report) => table(['question', 'answer', 'shown'], report.layers.map((a) => [a.ask, a.answer,
    a.shown.length > 0 ? fold(a.shown[0].node ? word('of-node', a.shown[0].title, a.shown[0].node) : a.shown[0].title, ...exhibits(a.shown)) : '']));
  const spans = (all) => table(['stage', 'attempt', 'start', 'duration', 'how'], all.map((s) => [
    s.kind === 'stage' ? s.name : s.name === s.service ? `${s.name}.service` : `${s.service}, ${s.kind} ${s.name}`,
    s.times ? `${s.attempt - s.times + 1}-${s.attempt}` : String(s.attempt), moment(s.start), s.seconds === undefined ? '-' : lasting(s.seconds),
    s.error ? fold(s.state, block(s.error)) : s.state]));
  const clock = (all) => table(['certificate', 'ends', 'lives', 'left', 'state'], all.map((c) => [
    c.also > 0 ? word('and-more', c.file, c.also) : c.file, moment(c.ends), lasting(c.lives), lasting(c.left), c.level]));
  const looked = (all) => fold(word('looked'), make('p', {}, word('looked-at', all.filter((l) => l.had).length, all.filter((l) => !l.had).length)),
    table(['what', 'file', 'seen'], all.map((l) => [l.node ? word('of-node', l.title, l.node) : l.title, make('code', {}, l.file),
      l.had ? word(l.cut ? 'bytes-cut' : 'bytes', (l.bytes / 1000).toFixed(1)) : l.problem || '-'])));

  function show(file, answer) {
    const report = JSON.parse(answer.report);
    const heading = make('h2', { tabIndex: -1 }, word('result'));
    const copying = button('copy', () => copy(answer.markdown).then(() => word('copied'), () => word('not-copied')).then((text) => {
      copying.textContent = text;
      say(text);
      setTimeout(() => { copying.textContent = word('copy'); }, 2000);
    }));
    const place = get('Answer');
    place.replaceChildren(heading, ...subject(report.subject, file, answer),
      make('p', { className: 'tools' }, copying,
        button('save', () => save('diagnosis.json', new Blob([answer.report], { type: 'application/json' }))),
        button('mask', () => begin('mask', file)),
        button('print', () => print())),
      make('div', { id: 'Masked' }), verdict(report, answer),
      ...report.warnings.map((c) => causeOf(c, word('warning', c.title))),
      ...report.harmless.map((c) => make('section', { className: 'verdict' }, make('h3', {}, word('harmless', c.title)), make('p', {}, c.cause), exhibits(c.shown))),
      ...((report.failedChecks ?? []).length > 0 ? part('checks', ...checks(report.failedChecks)) : []),
      ...part('walk', walked(report)),
      ...(answer.spans.length > 0 ? part('timeline', spans(answer.spans)) : []),
      ...(answer.certificates.length > 0 ? part('certificates', make('p', {}, word('certificates-at')), clock(answer.certificates)) : []),
      ...(answer.notes.length > 0 ? part('notes', ...listed(answer.notes)) : []),
      looked(answer.looked));
    place.answer = answer; // for who asks the page
    heading.focus();
    say(report.cause ? word('cause', report.cause.title) : answer.words);
  }

  function showMasked(file, report, blob) {
    save(`masked-${file.name}`, blob);
    const count = (report.masked ?? []).reduce((sum, m) => sum + m.count, 0);
    const text = word('masked', report.files, count);
    const rows = (key, all) => (all.length > 0 ? fold(`${word(key)}: ${all.length}`, ...listed(all)) : null);
    get('Masked').replaceChildren(make('div', { className: 'note' }, make('p', {}, text), make('p', {}, word('masked-warning')),
      rows('masked-rows', report.masked.map((m) => word('lines', m.file, m.lines.join(', '), `${m.count} x ${m.kind}`))),
      rows('suspects', report.suspects.map((s) => word('lines', s.file, s.line, word('begins', s.begins, s.length)))),
      rows('left-out', report.leftOut.map((l) => `${l.file}: ${l.why}`)),
      rows('notes', report.notes) ?? ''));
    say(text);
  }

  // --- choosing a file ------------------------------------------------------------------

  const area = get('Choose');
  get('File').addEventListener('change', (event) => choose(event.target.files));
  // So that the same file can be chosen again.
  get('File').addEventListener('click', (event) => { event.target.value = ''; });
  get('Cancel').addEventListener('click', () => {
    stop();
    trouble(word('cancelled'));
    get('File').value = '';
    get('File').focus();
  });
  addEventListener('dragover', (event) => { event.preventDefault(); area.classList.add('over'); });
  addEventListener('dragleave', () => area.classList.remove('over'));
  addEventListener('drop', (event) => {
    event.preventDefault();
    area.classList.remove('over');
    choose(event.dataTransfer.files);
  });
  if (typeof WebAssembly === 'undefined' || typeof DecompressionStream === 'undefined') trouble(word('old-browser', 'WebAssembly, DecompressionStream'));
  else start();
})();
