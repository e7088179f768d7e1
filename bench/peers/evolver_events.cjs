// Reading the event log by evolver's own functions.
// usage: evolver_events.cjs PEERS last|all     (events in $GEP_ASSETS_DIR/events.jsonl)
const { join } = require('node:path');

const [peers, way] = process.argv.slice(2);
const store = require(join(peers, 'node_modules/@evomap/evolver/src/gep/assetStore.js'));

const last = () => ({ last: store.getLastEventId() });
const all = () => ({ count: store.readAllEvents().length });

const start = performance.now();
const result = way === 'all' ? all() : last();
const seconds = (performance.now() - start) / 1000;
const megabytes = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify({ seconds, megabytes, ...result }));
process.exit(0);
