process.exit(require('fs').readFileSync('state.txt', 'utf8').includes('bad') ? 1 : 0)
