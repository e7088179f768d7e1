// The plain selection in plain JavaScript: what an unobfuscated Node engine needs for the same work.
// usage: select.mjs PEERS SIGNALS_JSON warm|cold     (genes in $GEP_ASSETS_DIR/genes.json)
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [, signalsText, way] = process.argv.slice(2);
const signals = JSON.parse(signalsText);
const lowered = signals.map((signal) => signal.toLowerCase());

// A function that says whether a pattern hits: regex, alias or substring.
const compile = (pattern) => {
  const end = pattern.lastIndexOf('/');
  if (pattern.startsWith('/') && end > 0) {
    const regex = new RegExp(pattern.slice(1, end), pattern.slice(end + 1) || 'i');
    return () => signals.some((signal) => regex.test(signal));
  }
  const branches = pattern.toLowerCase().split('|').map((branch) => branch.trim()).filter(Boolean);
  return () => branches.some((branch) => lowered.some((signal) => signal.includes(branch)));
};

const load = () => {
  const { genes } = JSON.parse(readFileSync(join(process.env.GEP_ASSETS_DIR, 'genes.json'), 'utf8'));
  return genes.map(({ id, signals_match }) => ({ id, patterns: signals_match.map(compile) }));
};

const select = (genes) => {
  const scored = [];
  for (const { id, patterns } of genes) {
    const score = patterns.reduce((hits, hit) => hits + (hit() ? 1 : 0), 0);
    if (score > 0) scored.push({ id, score });
  }
  scored.sort((a, b) => b.score - a.score);
  const [selected, ...others] = scored.map(({ id }) => id);
  return { selected, alternatives: others.slice(0, 4) };
};

const timed = (work) => {
  const start = performance.now();
  const result = work();
  return { seconds: (performance.now() - start) / 1000, ...result };
};

let result;
if (way === 'cold') {
  result = timed(() => select(load()));
} else {
  const genes = load();
  for (let i = 0; i < 3; i++) select(genes);
  result = timed(() => select(genes));
}
console.log(JSON.stringify(result));
