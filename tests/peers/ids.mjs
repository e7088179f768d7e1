// Prints the asset id of each line of a JSONL file, as gep-sdk computes it.
import { readFileSync } from 'node:fs';
import { computeAssetId } from '@evomap/gep-sdk';

const lines = readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean);
process.stdout.write(lines.map((line) => computeAssetId(JSON.parse(line)) + '\n').join(''));
