// Selection by evolver's own functions.
// usage: evolver_select.cjs PEERS SIGNALS_JSON warm|cold|whole     (genes in $GEP_ASSETS_DIR/genes.json)
//   warm   its pattern matching over every gene, after a pass to warm up
//   cold   loading the genes, and the same once
//   whole  its selectGene, once, with the genes loaded
const { join } = require('node:path');

const [peers, signalsText, way] = process.argv.slice(2);
const gep = join(peers, 'node_modules/@evomap/evolver/src/gep');
const { selectGene, matchPatternToSignals } = require(join(gep, 'selector.js'));
const { loadGenes } = require(join(gep, 'assetStore.js'));
const signals = JSON.parse(signalsText);

const match = (genes) => {
  let hits = 0;
  for (const gene of genes) {
    for (const pattern of gene.signals_match) if (matchPatternToSignals(pattern, signals)) hits += 1;
  }
  return { hits };
};
const whole = (genes) => {
  const { selected, alternatives } = selectGene(genes, signals, {});
  return { selected: selected && selected.id, alternatives: alternatives.map((gene) => gene.id) };
};

const genes = way === 'cold' ? undefined : loadGenes();
if (way === 'warm') match(genes);
const start = performance.now();
const result = way === 'whole' ? whole(genes) : match(genes ?? loadGenes());
console.log(JSON.stringify({ seconds: (performance.now() - start) / 1000, ...result }));
process.exit(0);
