const fs = require('node:fs');
// How many lines of a log are errors.
exports.countErrors = async (path) => {
  const lines = fs.readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('ERROR')).length;
};
